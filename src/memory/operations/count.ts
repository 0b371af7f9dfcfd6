import { countShown } from "../log/counting.js";
import { heldLogOf } from "../log/living-log.js";
import { authorizeFree } from "../requests/authorize.js";
import { parseFilter } from "../requests/filter.js";
import { selectIn } from "./matching.js";
import type { Ports, SelectingRequest } from "./ports.js";

/** Counts the memories of a namespace; one that does not exist has none. Costs nothing. */
export async function countMemories(ports: Ports, request: SelectingRequest): Promise<number> {
  const { includeSuperseded = false, signal } = request;
  const filter = parseFilter(request.filter);
  const scope = await authorizeFree(ports, request, { writes: false });
  if (filter !== undefined) {
    const matching = await selectIn(ports, scope, { filter, includeSuperseded, signal });
    return matching?.selection.size ?? 0;
  }
  const held = await heldLogOf(ports, scope);
  return held === undefined ? 0 : countShown(ports, { logId: held.logId, includeSuperseded, signal });
}
