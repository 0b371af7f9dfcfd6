import type { Namespaces } from "../../log/namespaces.js";
import type { Clock } from "../../pacing/clock.js";
import { mapSome } from "../../pacing/map-some.js";
import type { Scope } from "../../ports/log.js";

/** Memories erased at a time in an open namespace, where tombstones share writes; elsewhere they would race. */
const ERASING_MAX = 8;
/** Time after which no further erasure begins; a call may take 30 seconds. */
const BEGIN_MS_MAX = 15_000;

export interface ErasedSome {
  /** Number of memories that were there, and are erased now. */
  readonly deleted: number;
  /** True if time ran out before all were erased. */
  readonly more: boolean;
}

interface Erasing<T> {
  readonly scope: Scope;
  readonly of: readonly T[];
  /** Erases one; answers whether there was one. */
  erase(each: T): Promise<boolean>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Erases memories of a namespace one by one, some at a time. After a failure, or when the caller has gone, those
 * that have begun are finished and no others begin.
 */
export async function eraseSome<T>(
  { clock, namespaces }: { readonly clock: Clock; readonly namespaces: Namespaces },
  { scope, of, erase, signal }: Erasing<T>,
): Promise<ErasedSome> {
  const atOnce = (await namespaces.ifOpen(scope, async () => ERASING_MAX)) ?? 1;
  const endMs = clock.nowMs() + BEGIN_MS_MAX;
  const failures: unknown[] = [];
  let [deleted, more] = [0, false];
  await mapSome(of, atOnce, async (each) => {
    if (clock.nowMs() > endMs) more = true;
    if (more || failures.length > 0 || signal?.aborted) return;
    await erase(each).then(
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
