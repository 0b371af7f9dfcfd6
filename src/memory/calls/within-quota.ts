import type { Caller, Quota } from "../ports/quota.js";
import { type CallStep, type Steps, untimed } from "../ports/steps.js";

export interface ChargeOptions {
  readonly quota: Quota;
  readonly caller: Caller;
  readonly steps?: Steps<CallStep> | undefined;
  /** Aborted when the caller stops waiting. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs work that costs one call, and refunds the call if the work fails: a caller that gets an error pays
 * nothing. One exception: a store that reached the log is charged even if the caller's deadline passed
 * before the log answered. The memory exists and can be recalled; if it were free, callers could store for
 * nothing by short deadlines. A retry with the same idempotency key is answered and costs nothing.
 *
 * The charge runs beside the work, not before it. The work awaits `paid` before it writes or answers
 * anything, and stops when `signal` is aborted: the charge was refused, or the caller stopped waiting.
 */
export async function withinQuota<T>(
  { quota, caller, steps = untimed, signal }: ChargeOptions,
  work: (charge: { paid: Promise<void>; signal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const refused = new AbortController();
  const paid = steps.time("charge", () => quota.charge(caller));
  paid.catch((reason) => refused.abort(reason));
  try {
    const either = signal === undefined ? refused.signal : AbortSignal.any([refused.signal, signal]);
    return await work({ paid, signal: either });
  } catch (error) {
    // If the charge was refused, that error is the answer, whatever the aborted work threw.
    await paid;
    await steps.time("refund", () => quota.refund(caller));
    throw error;
  }
}
