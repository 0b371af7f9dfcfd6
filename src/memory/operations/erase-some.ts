import type { Clock } from "../../concurrency/clock.js";
import { mapSome } from "../../concurrency/map-some.js";

/** Time after which no further erasure begins; a call may take 30 seconds. */
const BEGIN_MS_MAX = 15_000;

export interface ErasedSome {
  /** Number of those that were there, and are erased now. */
  readonly deleted: number;
  /** True if time ran out before all were erased. */
  readonly more: boolean;
}

interface ErasingSome<T> {
  readonly targets: readonly T[];
  readonly atOnce: number;
  /** Erases one; true if there was one. */
  erase(each: T): Promise<boolean>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Erases memories or namespaces one by one, some at a time. After a failure, or when the caller has gone, those
 * that have begun are finished and no others begin.
 */
export async function eraseSome<T>(
  clock: Clock,
  { targets, atOnce, erase, signal }: ErasingSome<T>,
): Promise<ErasedSome> {
  const endMs = clock.nowMs() + BEGIN_MS_MAX;
  const failures: unknown[] = [];
  let [deleted, more] = [0, false];
  await mapSome(targets, atOnce, async (each) => {
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
