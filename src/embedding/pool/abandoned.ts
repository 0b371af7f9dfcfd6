import { Buckets } from "../../concurrency/bucket.js";
import { MemoryError } from "../../errors.js";

/** Model time that an account may use for calls that it then breaks off. */
export const ABANDONED_MS_MAX = 10_000;
/** Milliseconds of it that are forgiven each second. */
const FORGIVEN_MS = 100;
/** Upper limit of the used time, so that no account is locked out for more than 100 seconds. */
const ABANDONED_MS_CAP = 2 * ABANDONED_MS_MAX;

/**
 * Counts the model time of calls that their callers break off. Such calls are not charged, so without a
 * limit one account could keep the model busy at no cost.
 */
export class Abandoned {
  /** Time that each account may still use. */
  readonly #buckets = new Buckets({ burst: ABANDONED_MS_MAX, perSecond: FORGIVEN_MS });

  add(owner: string, ms: number): void {
    const usedMs = (this.#buckets.fullInMs(owner) * FORGIVEN_MS) / 1000;
    this.#buckets.take(owner, Math.min(ms, ABANDONED_MS_CAP - usedMs));
  }

  /**
   * Refuses an account that broke off too much work.
   *
   * @throws MemoryError `resource_exhausted` (ABANDONED_WORK) while the account has used too much.
   */
  check(owner: string): void {
    const waitMs = this.#buckets.waitMs(owner);
    if (waitMs <= 0) return;
    throw new MemoryError(
      "resource_exhausted",
      `this account broke off calls on which the model had spent more than ${ABANDONED_MS_MAX / 1000} seconds`,
      { reason: "ABANDONED_WORK", retryAfterMs: Math.max(1000, Math.ceil(waitMs)) },
    );
  }
}
