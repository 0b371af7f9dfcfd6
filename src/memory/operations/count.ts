import { countShown } from "../log/counting.js";
import { heldLogOf, type Living } from "../log/living-log.js";
import type { Scope } from "../ports/names.js";
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
  if (held === undefined) return 0;
  const counted = includeSuperseded ? undefined : await countInIndex(ports, scope, held);
  return counted ?? countShown(ports, { logId: held.logId, includeSuperseded, signal });
}

/** Counts by an open index what a log shows, which reads no superseded memories; undefined if none is ready. */
async function countInIndex({ namespaces }: Ports, scope: Scope, { logId, last }: Living) {
  const counting = namespaces.ifOpen(scope, async ({ replica }) => {
    if (replica.logId !== logId || !replica.isNear(last)) return undefined;
    await replica.current();
    return replica.searching((search) => search.size({}));
  });
  // Whatever has become of the index, the log can be counted.
  return counting.catch(() => undefined);
}
