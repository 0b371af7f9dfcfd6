import { countShown } from "../log/counting.js";
import { heldLogOf } from "../log/living-log.js";
import { authorizeFree } from "../requests/authorize.js";
import { parseFilter } from "../requests/filter.js";
import type { JsonObject } from "../requests/metadata.js";
import { scopeOf } from "../requests/namespace.js";
import { type MatchingPorts, selectIn } from "./matching.js";
import type { NamespaceRequest } from "./ports.js";

export interface CountRequest extends NamespaceRequest {
  /** Filter of the memories; see docs/filters.md. All are counted when left out. */
  readonly filter?: JsonObject | undefined;
  /** True if memories that others superseded count, too. */
  readonly includeSuperseded?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Counts the memories of a namespace; one that does not exist has none. Costs nothing. */
export async function countMemories(
  ports: MatchingPorts,
  { caller, includeSuperseded = false, signal, ...request }: CountRequest,
): Promise<number> {
  const scope = scopeOf({ caller, ...request });
  const filter = parseFilter(request.filter);
  await authorizeFree(ports.quota, caller, { writes: false, namespace: scope.namespace });
  if (filter !== undefined) {
    const matching = await selectIn(ports, scope, { filter, includeSuperseded, signal });
    return matching?.selection.size ?? 0;
  }
  const held = await heldLogOf(ports, scope);
  return held === undefined ? 0 : countShown(ports, { logId: held.logId, includeSuperseded, signal });
}
