import { unavailable } from "../../errors.js";
import { eraseEntries, eraseVersions } from "../erasure/erase.js";
import { onLiving } from "../log/living-log.js";
import type { Filter } from "../ports/condition.js";
import { isEnd, type Projected } from "../ports/log.js";
import type { Scope } from "../ports/names.js";
import type { VersionAt } from "../ports/secondary-indexes.js";
import { authorizeFree } from "../requests/authorize.js";
import { parseMemoryId } from "../requests/id.js";
import { matches } from "../requests/matches.js";
import { isExpired, noSuchMemory } from "../versions/current-version.js";
import type { MemoryRequest } from "./get.js";
import type { Ports } from "./ports.js";

/** Maximum number of versions that one call deletes: others may update the memory meanwhile. */
const VERSIONS_MAX = 20;

/**
 * Deletes one memory. When this resolves, its text, metadata and vector are gone from the database and from
 * this process's index, and no later recall on any replica returns it. Costs nothing.
 *
 * @throws MemoryError `not_found`, `unauthenticated` or `unavailable`; after the latter, the memory may be
 * deleted already, or within a minute.
 */
export async function deleteMemory(ports: Ports, request: MemoryRequest): Promise<void> {
  const id = parseMemoryId(request.id);
  const scope = await authorizeFree(ports, request, { writes: true });
  if (!(await forget(ports, { scope, id }))) throw noSuchMemory();
}

export interface Forgetting {
  readonly scope: Scope;
  readonly id: string;
  /** The version to begin with; the memory's present one if left out. */
  readonly first?: VersionAt | undefined;
  /** Filter that the versions made meanwhile must match; any will do if left out. */
  readonly filter?: Filter | undefined;
}

/**
 * Erases a memory, and the versions that others make of it meanwhile, without asking who the caller is. True if there
 * was one; false if others have made one that the filter does not match, which stays. One that has expired is erased,
 * too, and counts as none.
 *
 * @throws MemoryError `unavailable`
 */
export async function forget(ports: Ports, { first, filter, ...target }: Forgetting): Promise<boolean> {
  const { log, secondaryIndexes, clock } = ports;
  let was = first !== undefined;
  let found = first ?? (await locate(ports, target));
  // An update may have made another version before the tombstone; after it, none is made.
  for (let versions = 0; found && versions < VERSIONS_MAX; versions++) {
    const { logId, sequence } = found;
    const sequences = [sequence];
    let isBuried = false;
    if (found !== first) {
      const projection = filter ? "text" : "header";
      const [fetched, next] = await Promise.all([
        log.fetch({ logId, sequences, projection }),
        secondaryIndexes.findReplacements({ logId, sequences }),
      ]);
      const [version] = fetched.found;
      isBuried = next.some(({ how }) => how === "deleted");
      if (version && filter && !matches(filter.condition, version.entry as Projected["text"])) return false;
      was ||= version === undefined || !isExpired(version.entry, clock.wallMs());
    }
    // An earlier call may have died, or could not erase it, after its tombstone.
    if (isBuried) await eraseEntries(ports, { logIds: [logId], sequences });
    else await eraseVersions(ports, target.scope, { logId, sequences });
    found = await locate(ports, target);
  }
  if (found) throw unavailable(`${filter ? "a" : "the"} memory is updated again and again`);
  return was;
}

/** Finds a memory's present version, to erase it. This needs no index: the log knows the number of each memory. */
async function locate(
  ports: Ports,
  { scope, id }: { scope: Scope; id: string },
): Promise<VersionAt | undefined> {
  const located = await onLiving(ports, scope, async ({ logId }) => {
    const sequence = await ports.secondaryIndexes.locate({ logId, id });
    const last = sequence === undefined ? (await ports.log.last(logId))?.entry : undefined;
    // A log that has moved meanwhile loses what changes in its copy: the memory may be there.
    return last && isEnd(last) ? undefined : { logId, sequence };
  });
  if (located?.sequence === undefined) return undefined;
  return { logId: located.logId, sequence: located.sequence };
}
