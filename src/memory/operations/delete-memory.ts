import { unavailable } from "../../errors.js";
import { type ErasurePorts, finish, newErasure } from "../erasure/erase.js";
import { onLiving } from "../log/append-direct.js";
import type { Scope } from "../ports/names.js";
import { authorizeFree } from "../requests/authorize.js";
import { parseMemoryId } from "../requests/id.js";
import { scopeOf } from "../requests/namespace.js";
import { isExpired, noSuchMemory } from "../versions/current-version.js";
import type { MemoryRequest } from "./get.js";
import type { ErasingPorts } from "./ports.js";

/** Maximum number of versions that one call deletes: others may update the memory meanwhile. */
export const VERSIONS_MAX = 20;

/**
 * Deletes one memory. When this resolves, its text, metadata and vector are gone from the database and from
 * this process's index, and no later recall on any replica returns it. Costs nothing.
 *
 * @throws MemoryError `not_found`, `unauthenticated` or `unavailable`; after the latter, the memory may be
 * deleted already, or within a minute.
 */
export async function deleteMemory(
  ports: ErasingPorts,
  { caller, ...request }: MemoryRequest,
): Promise<void> {
  const scope = scopeOf({ caller, ...request });
  const id = parseMemoryId(request.id);
  await authorizeFree(ports.quota, caller, { writes: true, namespace: scope.namespace });
  if (!(await forget(ports, { scope, id }))) throw noSuchMemory();
}

/**
 * Erases one memory, without asking who the caller is; true if there was one with this id. One that has
 * expired is erased, too, and counts as none.
 *
 * @throws MemoryError `unavailable`
 */
export async function forget(ports: ErasurePorts, target: { scope: Scope; id: string }): Promise<boolean> {
  let found = await locate(ports, target);
  let was = false;
  // An update may have made another version before the tombstone; after it, none is made.
  for (let versions = 0; found && versions < VERSIONS_MAX; versions++) {
    was ||= !(await hasExpired(ports, found));
    await ports.erasures.begin(found);
    await finish(ports, found);
    found = await locate(ports, target);
  }
  if (found) throw unavailable("the memory is updated again and again");
  return was;
}

async function hasExpired(
  { log, clock }: ErasurePorts,
  { logId, sequence }: { logId: string; sequence: number },
): Promise<boolean> {
  const [found] = (await log.fetch({ logId, sequences: [sequence], what: "head" })).found;
  return found !== undefined && isExpired(found.entry, clock.wallMs());
}

/** Finds a memory's number in its log. This needs no index: the log knows the number of each memory. */
export async function locate(ports: ErasurePorts, { scope, id }: { scope: Scope; id: string }) {
  const located = await onLiving(ports, scope, async ({ logId }) => {
    return { logId, sequence: await ports.secondaryIndexes.locate({ logId, id }) };
  });
  if (located?.sequence === undefined) return undefined;
  const { logId, sequence } = located;
  return { ...newErasure(ports.clock, { scope, logId }), sequence };
}
