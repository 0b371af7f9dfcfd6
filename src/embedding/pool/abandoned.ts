import { LRUCache } from "lru-cache";
import { MemoryError } from "../../errors.js";

/** Model time that an account may use for calls that it then breaks off. */
export const ABANDONED_MS_MAX = 10_000;
/** Rate at which an account's used time is forgiven, as a share of the time that passes. */
const FORGIVEN_SHARE = 1 / 10;
/** Upper limit of the used time, so that no account is locked out for more than 100 seconds. */
const ABANDONED_MS_CAP = 2 * ABANDONED_MS_MAX;
/** Maximum number of remembered accounts; those that broke off a call longest ago are forgotten first. */
const OWNERS_MAX = 10_000;

/** Model time that an account has used, as of a moment. */
interface Spent {
  readonly ms: number;
  readonly atMs: number;
}

/**
 * Counts the model time of calls that their callers break off. Such calls are not charged, so without a
 * limit one account could keep the model busy at no cost.
 */
export class Abandoned {
  /** Used time of each account. Accounts that broke off a call longest ago are dropped first. */
  readonly #spent = new LRUCache<string, Spent>({ max: OWNERS_MAX });

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  add(owner: string, ms: number): void {
    if (ms <= 0) return;
    const total = Math.min(ABANDONED_MS_CAP, this.#of(owner) + ms);
    this.#spent.set(owner, { ms: total, atMs: this.nowMs() });
  }

  /**
   * Refuses an account that broke off too much work.
   *
   * @throws MemoryError `resource_exhausted` (ABANDONED_WORK) while the account has used too much.
   */
  check(owner: string): void {
    const over = this.#of(owner) - ABANDONED_MS_MAX;
    if (over < 0) return;
    throw new MemoryError(
      "resource_exhausted",
      `this account broke off calls on which the model had spent more than ${ABANDONED_MS_MAX / 1000} seconds`,
      { reason: "ABANDONED_WORK", retryAfterMs: Math.max(1000, Math.ceil(over / FORGIVEN_SHARE)) },
    );
  }

  #of(owner: string): number {
    const spent = this.#spent.peek(owner);
    if (spent === undefined) return 0;
    return Math.max(0, spent.ms - (this.nowMs() - spent.atMs) * FORGIVEN_SHARE);
  }
}
