import { LRUCache } from "lru-cache";
import { MemoryError } from "../../errors.js";

/** Model time that an account may have spent on calls that it then broke off. */
export const ABANDONED_MS_MAX = 10_000;
/** The share of the time that passes by which the account's spent time becomes less. */
const FORGIVEN_SHARE = 1 / 10;
/** However much was under way at once: nobody is locked out for more than 100 seconds. */
const ABANDONED_MS_KEPT = 2 * ABANDONED_MS_MAX;
/** Accounts that are remembered; of more, those that broke off longest ago start afresh. */
const OWNERS_MAX = 10_000;

/** What an account has spent, as of a moment. */
interface Spent {
  readonly ms: number;
  readonly atMs: number;
}

/**
 * Counts the model's time that went into calls which their callers broke off. Such calls are not
 * charged, so without a bound one account could keep the model busy for nothing.
 */
export class Abandoned {
  /** What each account has spent; those that broke off a call longest ago are dropped first. */
  readonly #spent = new LRUCache<string, Spent>({ max: OWNERS_MAX });

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  add(owner: string, ms: number): void {
    if (ms <= 0) return;
    const total = Math.min(ABANDONED_MS_KEPT, this.#of(owner) + ms);
    this.#spent.set(owner, { ms: total, atMs: this.nowMs() });
  }

  /** @throws MemoryError `resource_exhausted` (ABANDONED_WORK) while the account has spent too much. */
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
