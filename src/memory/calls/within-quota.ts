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
 * Runs work that costs one call, and gives the call back when it fails: whoever gets an error pays
 * nothing. One exception: a store that the log has is charged even if the caller's time was over before
 * the log answered. The memory is there, and is recalled; were it free, whoever asks with a short deadline
 * would store for nothing. Its retry with the same idempotency key is answered and costs nothing.
 *
 * The charge runs beside the work, not before it: the work awaits `paid` before it does anything that
 * lasts or answers, and drops what it began when `signal` is aborted: the charge was refused, or the
 * caller stopped waiting.
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
    // What refused the charge is the answer, whatever the dropped work says of itself.
    await paid;
    await steps.time("refund", () => quota.refund(caller));
    throw error;
  }
}
