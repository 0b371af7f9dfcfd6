import { countShown } from "../log/counting.js";
import { heldLogOf } from "../log/living-log.js";
import { authorizeFree } from "../requests/authorize.js";
import { parseFilter } from "../requests/filter.js";
import { scopeOf } from "../requests/namespace.js";
import { selectIn } from "./matching.js";
import type { Ports, SelectingRequest } from "./ports.js";

/** Counts the memories of a namespace; one that does not exist has none. Costs nothing. */
export async function countMemories(
  ports: Ports,
  { caller, includeSuperseded = false, signal, ...request }: SelectingRequest,
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
