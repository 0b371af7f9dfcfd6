import { parseFilter } from "../filter/parse.js";
import { countShown } from "../log/counting.js";
import { authorizeFree } from "../requests/authorize.js";
import type { JsonObject } from "../requests/metadata.js";
import { scopeOf } from "../requests/namespace.js";
import { endOf } from "./end-of.js";
import { selectIn } from "./matching.js";
import type { NamespaceRequest, ReadingPorts } from "./ports.js";

export interface CountRequest extends NamespaceRequest {
  /** Filter of the memories; see docs/filters.md. All are counted when left out. */
  readonly filter?: JsonObject | undefined;
  /** True if memories that others superseded count, too. */
  readonly includeSuperseded?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Counts the memories of a namespace; one that does not exist has none. Costs nothing. */
export async function countMemories(
  ports: ReadingPorts,
  { caller, includeSuperseded = false, signal, ...request }: CountRequest,
): Promise<number> {
  const { quota, log, clock } = ports;
  const scope = scopeOf({ caller, ...request });
  const filter = parseFilter(request.filter);
  await authorizeFree(quota, caller, { writes: false, namespace: scope.namespace });
  if (filter !== undefined) {
    const matching = await selectIn(ports, scope, { filter, includeSuperseded, signal });
    return matching?.selection.size ?? 0;
  }
  const end = await endOf(log, scope);
  if (end === undefined) return 0;
  return countShown({ log, clock }, { logId: end.logId, includeSuperseded, signal });
}
