import { authorizeFree } from "../requests/authorize.js";
import { parseFilter } from "../requests/filter.js";
import { ALL, selectIn } from "./matching.js";
import type { Ports, SelectingRequest } from "./ports.js";

/** Counts the memories of a namespace that lists show; one that does not exist has none. Costs nothing. */
export async function countMemories(ports: Ports, request: SelectingRequest): Promise<number> {
  const { includeSuperseded = false, signal } = request;
  const filter = parseFilter(request.filter) ?? ALL;
  const scope = await authorizeFree(ports, request, { writes: false });
  const matching = await selectIn(ports, scope, { filter, includeSuperseded, signal });
  return matching?.selection.size ?? 0;
}
