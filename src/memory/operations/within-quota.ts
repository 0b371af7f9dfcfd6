import { setMaxListeners } from "node:events";
import { NO_TIMINGS } from "../ports/step-timer.js";
import type { PaidRequest, Ports } from "./ports.js";

interface Charge {
  /** Number of calls that the work costs. */
  readonly calls: number;
  /** Number of these calls that the caller must pay although the work fails; none if left out. */
  readonly nonRefundable?: () => number;
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
  { quota }: Ports,
  { caller, timer = NO_TIMINGS, controller = new AbortController() }: Omit<PaidRequest, "namespace">,
  { calls, nonRefundable = () => 0 }: Charge,
  work: (charge: { paid: Promise<void>; signal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const { signal } = controller;
  // Each text of a batch listens, which is no leak.
  if (calls > 1) setMaxListeners(0, signal);
  const paid = timer.time("charge", () => quota.charge(caller, calls));
  paid.catch((reason) => controller.abort(reason));
  try {
    return await work({ paid, signal });
  } catch (error) {
    // If the charge was refused, that error is the answer, whatever the aborted work threw.
    await paid;
    const refunded = calls - nonRefundable();
    if (refunded > 0) await timer.time("refund", () => quota.refund(caller, refunded));
    throw error;
  }
}
