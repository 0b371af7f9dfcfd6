import { setMaxListeners } from "node:events";
import type { Caller, Quota } from "../ports/quota.js";
import { type CallStep, NO_TIMINGS, type StepTimer } from "../ports/step-timer.js";

interface ChargeOptions {
  readonly quota: Quota;
  readonly caller: Caller;
  readonly timer?: StepTimer<CallStep> | undefined;
  /** Aborted when the caller stops waiting. */
  readonly signal?: AbortSignal | undefined;
  /** Number of calls that the work costs, one by default. */
  readonly calls?: number | undefined;
  /** Number of these calls that the caller must pay although the work fails; none by default. */
  readonly kept?: (() => number) | undefined;
}

/**
 * Runs work that costs calls, and refunds them if the work fails: a caller that gets an error pays nothing. One
 * exception: a store that reached the log is charged even if the caller's deadline passed
 * before the log answered. The memory exists and can be recalled; if it were free, callers could store for
 * nothing by short deadlines. A retry with the same idempotency key is answered and costs nothing.
 *
 * The charge runs beside the work, not before it. The work awaits `paid` before it writes or answers
 * anything, and stops when `signal` is aborted: the charge was refused, or the caller stopped waiting.
 */
export async function withinQuota<T>(
  { quota, caller, timer = NO_TIMINGS, signal, calls = 1, kept = () => 0 }: ChargeOptions,
  work: (charge: { paid: Promise<void>; signal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const either = new AbortController();
  // Each text of a batch listens, which is no leak.
  if (calls > 1) setMaxListeners(0, either.signal);
  const paid = timer.time("charge", () => quota.charge(caller, calls));
  paid.catch((reason) => either.abort(reason));
  // `AbortSignal.any` costs several times as much, for each call.
  const follow = () => either.abort(signal?.reason);
  if (signal?.aborted) follow();
  else signal?.addEventListener("abort", follow);
  try {
    return await work({ paid, signal: either.signal });
  } catch (error) {
    // If the charge was refused, that error is the answer, whatever the aborted work threw.
    await paid;
    const refunded = calls - kept();
    if (refunded > 0) await timer.time("refund", () => quota.refund(caller, refunded));
    throw error;
  } finally {
    signal?.removeEventListener("abort", follow);
  }
}
