import type { Clock } from "../../concurrency/clock.js";
import { mapConcurrently } from "../../concurrency/map-concurrently.js";

/** Time after which no further change begins; a call may take 30 seconds. */
const BEGIN_MS_MAX = 15_000;
/** Targets read at a time, with their texts. */
const READ_MANY = 32;

interface Changing<T, R> {
  readonly targets: readonly T[];
  /** Number of changes at a time. */
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
  /** Reads what a part of the targets is now; what is gone is left out. */
  read(some: readonly T[]): Promise<readonly R[]>;
  /** Changes one; false if it must not be changed now: then the call ends, and its part counts as not finished. */
  change(each: R): Promise<boolean>;
  /** Number of targets that may still be changed; any number if left out. */
  left?(): number;
}

/**
 * Changes or erases memories or namespaces, part by part, as far as the call's time and `left` allow. After a failure, or when
 * the caller has gone, the changes that have begun are finished and no others begin. Returns the number of targets from
 * the first part on that was not finished.
 */
export async function changeSome<T, R>(
  clock: Clock,
  { targets, concurrency, signal, read, change, left = () => Number.POSITIVE_INFINITY }: Changing<T, R>,
): Promise<number> {
  const endMs = clock.nowMs() + BEGIN_MS_MAX;
  let isOver = false;
  const canGoOn = () => {
    isOver ||= clock.nowMs() > endMs || left() <= 0;
    return !isOver && !signal?.aborted;
  };
  for (let at = 0; at < targets.length; ) {
    signal?.throwIfAborted();
    if (!canGoOn()) return targets.length - at;
    const part = targets.slice(at, at + Math.min(READ_MANY, left()));
    const failures: unknown[] = [];
    await mapConcurrently(await read(part), concurrency, async (each) => {
      if (failures.length > 0 || !canGoOn()) return;
      try {
        if (!(await change(each))) isOver = true;
      } catch (error) {
        failures.push(error);
      }
    });
    signal?.throwIfAborted();
    if (failures.length > 0) throw failures[0];
    if (isOver) return targets.length - at;
    at += part.length;
  }
  return 0;
}
