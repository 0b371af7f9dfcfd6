import type { ErasurePorts } from "../../erasure/erase.js";
import { authorizeFree } from "../../input/authorize.js";
import { parseMemoryIds } from "../../input/ids.js";
import { scopeOf } from "../../input/namespace.js";
import { mapSome } from "../../pacing/map-some.js";
import type { Quota } from "../../ports/quota.js";
import { forget } from "../delete-memory.js";
import type { MemoriesRequest } from "./get-memories.js";

/** Memories erased at a time in an open namespace, where tombstones share writes; elsewhere they would race. */
const ERASING_MAX = 8;
/** Time after which no further erasure begins; a call may take 30 seconds. */
const BEGIN_MS_MAX = 15_000;

export interface DeleteMemoriesRequest extends MemoriesRequest {
  readonly signal?: AbortSignal;
}

export interface DeletedMemories {
  /** Number of memories that were there, and are erased now. */
  readonly deleted: number;
  /** True if time ran out before all were erased. */
  readonly more: boolean;
}

/**
 * Deletes several memories by their ids, each like `deleteMemory`. Ids that no memory has are passed over.
 * Costs nothing.
 *
 * @throws MemoryError `unauthenticated`, `permission_denied` or `unavailable`; after the latter, some may be
 * deleted already.
 */
export async function deleteMemories(
  ports: ErasurePorts & { readonly quota: Quota },
  { caller, signal, ...request }: DeleteMemoriesRequest,
): Promise<DeletedMemories> {
  const scope = scopeOf({ caller, ...request });
  const ids = parseMemoryIds(request.ids);
  await authorizeFree(ports.quota, caller, { writes: true, namespace: scope.namespace });
  const atOnce = (await ports.namespaces.ifOpen(scope, async () => ERASING_MAX)) ?? 1;
  const endMs = ports.clock.nowMs() + BEGIN_MS_MAX;
  const failures: unknown[] = [];
  let [deleted, more] = [0, false];
  await mapSome(ids, atOnce, async (id) => {
    if (ports.clock.nowMs() > endMs) more = true;
    // After a failure or the caller's deadline, those that have begun are finished and no others begin.
    if (more || failures.length > 0 || signal?.aborted) return;
    await forget(ports, { scope, id }).then(
      (was) => {
        deleted += was ? 1 : 0;
      },
      (error) => failures.push(error),
    );
  });
  signal?.throwIfAborted();
  if (failures.length > 0) throw failures[0];
  return { deleted, more };
}
