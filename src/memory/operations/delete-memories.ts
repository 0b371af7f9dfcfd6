import { invalid } from "../../errors.js";
import { eraseForgotten } from "../erasure/sweeping.js";
import { authorizeFree } from "../requests/authorize.js";
import { IDS_MAX } from "../requests/id.js";
import { changeSome } from "./change-some.js";
import { type Forgetting, forget } from "./delete-memory.js";
import { dryRun, parseTargets, readMatching, selectIn } from "./matching.js";
import type { ChangingRequest, Ports } from "./ports.js";

/** Memories that one call deletes by a filter at most. */
const DELETED_MAX = IDS_MAX;

/** Memories erased at a time in an open namespace, where tombstones share writes; elsewhere they would race. */
const ERASING_MAX = 8;

/**
 * Deletes several memories by their ids or by a filter, each like `deleteMemory`. Ids that no memory has are
 * passed over. By a filter it deletes some of the oldest that a list with it shows. It answers how many were there and
 * are erased now, and whether others are left: a call that broke off is finished by the next one. Costs nothing.
 *
 * @throws MemoryError `invalid_argument`, `unauthenticated`, `permission_denied` or `unavailable`; after the
 * latter, some may be deleted already.
 */
export async function deleteMemories(ports: Ports, request: ChangingRequest) {
  const { includeSuperseded = false, signal } = request;
  const { filter, ids } = parseTargets(request);
  if (filter === undefined && includeSuperseded) {
    throw invalid("include_superseded", "is for a filter; ids name any memory");
  }
  // A dry run changes nothing, but only a key that may delete has a use for it.
  const scope = await authorizeFree(ports, request, { writes: true });
  const selecting = filter && { filter, includeSuperseded, signal };
  if (request.dryRun === true && selecting !== undefined) {
    return { deleted: 0, more: false, dry: await dryRun(ports, scope, selecting) };
  }
  let deleted = 0;
  const forgetAll = async <T>(targets: readonly T[], read: (some: readonly T[]) => Promise<Forgetting[]>) =>
    changeSome(ports.clock, {
      targets,
      concurrency: (await ports.namespaces.ifOpen(scope, async () => ERASING_MAX)) ?? 1,
      signal,
      read,
      change: async (forgetting) => {
        if (await forget(ports, forgetting)) deleted++;
        return true;
      },
    });
  if (selecting === undefined) {
    const left = await forgetAll(ids, async (some) => some.map((id) => ({ scope, id })));
    return { deleted, more: left > 0 };
  }
  const matching = await selectIn(ports, scope, selecting);
  if (matching === undefined) return { deleted, more: false };
  const { logId, selection } = matching;
  // An earlier call may have been interrupted between a memory's tombstone and its erasure. The filter does not find that
  // memory any more, so its erasure is finished here.
  await eraseForgotten(ports, { logId, limit: DELETED_MAX });
  const targets = [...selection.sequences.subarray(0, DELETED_MAX)];
  const missed = new Set<number>();
  const left = await forgetAll(targets, async (sequences) => {
    // Read again, because others may have deleted or changed them meanwhile, or their log has moved.
    const found = await readMatching(ports, { ...selecting, logId, sequences });
    for (const sequence of sequences) missed.add(sequence);
    for (const { sequence } of found) missed.delete(sequence);
    return found.map(({ sequence, entry: { id } }) => ({ scope, id, filter, first: { logId, sequence } }));
  });
  if (left > 0 || selection.size > targets.length) return { deleted, more: true };
  if (missed.size === 0) return { deleted, more: false };
  // Another may have made a version of one that could not be read. One that is damaged is missed each time.
  const again = await selectIn(ports, scope, selecting);
  const more = again?.selection.sequences.some((sequence) => !missed.has(sequence)) ?? false;
  return { deleted, more };
}
