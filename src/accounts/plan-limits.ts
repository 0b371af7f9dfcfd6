import { Buckets } from "../concurrency/bucket.js";
import { Share } from "../concurrency/share.js";
import { MemoryError, type Reason } from "../errors.js";
import type { Caller } from "../memory/ports/quota.js";
import type { Plan } from "./plan.js";

/** Running calls of all accounts together, in a process. */
export const RUNNING_CALLS_MAX = 3_072;

/** Pause before a retry: a running call may end at any moment, and the unit is whole seconds. */
const CONCURRENCY_PAUSE_MS = 1_000;

type KeyOwner = Pick<Caller, "keyHash" | "accountId">;

/**
 * Holds each key and each account to the rate and the concurrency of its plan. It counts in this process alone,
 * so each replica allows that much.
 */
export class PlanLimits {
  readonly #rates = new Map<Plan, { readonly keys: Buckets; readonly accounts: Buckets }>();
  readonly #ofKeys = new Share({ total: Number.POSITIVE_INFINITY, what: "running calls" });
  /** Running calls of accounts. */
  readonly running = new Share({
    total: RUNNING_CALLS_MAX,
    what: "running calls",
    reason: "CONCURRENCY_LIMITED",
  });

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /**
   * Counts a call that begins. A refusal takes nothing, so a key that calls too often is not locked out.
   *
   * @throws MemoryError `resource_exhausted` (KEY_RATE_LIMITED, CONCURRENCY_LIMITED) or `unavailable`.
   */
  begin(owner: KeyOwner, plan: Plan): void {
    const { concurrency } = plan;
    this.#checkRates(owner, plan);
    if (!this.#ofKeys.tryTake(owner.keyHash, 1, concurrency)) {
      const message = `this key has ${concurrency} calls running, which is its plan's limit`;
      throw limited("CONCURRENCY_LIMITED", message, CONCURRENCY_PAUSE_MS);
    }
    try {
      this.running.take(owner.accountId, 1, concurrency && concurrency * plan.accountTimes);
    } catch (error) {
      this.#ofKeys.give(owner.keyHash);
      throw error;
    }
    this.#takeRates(owner, plan, 1);
  }

  /**
   * Takes more of the rate for a call that costs more than one. Calls behind it wait until that is made up for.
   *
   * @throws MemoryError `resource_exhausted` (KEY_RATE_LIMITED) if nothing is left meanwhile.
   */
  spend(owner: KeyOwner, plan: Plan, tokens: number): void {
    if (tokens <= 0) return;
    this.#checkRates(owner, plan);
    this.#takeRates(owner, plan, tokens);
  }

  /** Ends a call that `begin` has counted. */
  end({ keyHash, accountId }: KeyOwner): void {
    this.#ofKeys.give(keyHash);
    this.running.give(accountId);
  }

  runningOf(keyHash: string): number {
    return this.#ofKeys.heldBy(keyHash);
  }

  /** Buckets of a plan's keys and accounts; undefined if it has no rate. */
  ratesOf(plan: Plan): { readonly keys: Buckets; readonly accounts: Buckets } | undefined {
    const { rate, accountTimes } = plan;
    let rates = this.#rates.get(plan);
    if (rates === undefined && rate !== undefined) {
      const ofAccount = { perSecond: rate.perSecond * accountTimes, burst: rate.burst * accountTimes };
      rates = { keys: new Buckets(rate, this.nowMs), accounts: new Buckets(ofAccount, this.nowMs) };
      this.#rates.set(plan, rates);
    }
    return rates;
  }

  #checkRates({ keyHash, accountId }: KeyOwner, plan: Plan): void {
    const rates = this.ratesOf(plan);
    if (rates === undefined) return;
    checkRate(rates.keys, keyHash, "this key makes");
    checkRate(rates.accounts, accountId, "the keys of this account make");
  }

  #takeRates({ keyHash, accountId }: KeyOwner, plan: Plan, tokens: number): void {
    const rates = this.ratesOf(plan);
    rates?.keys.take(keyHash, tokens);
    rates?.accounts.take(accountId, tokens);
  }
}

function checkRate(buckets: Buckets, owner: string, who: string): void {
  const waitMs = buckets.waitMs(owner);
  if (waitMs <= 0) return;
  const message = `${who} more than the ${buckets.rate.perSecond} calls a second of its plan`;
  throw limited("KEY_RATE_LIMITED", message, waitMs);
}

function limited(reason: Reason, message: string, waitMs: number): MemoryError {
  return new MemoryError("resource_exhausted", message, { reason, retryAfterMs: Math.ceil(waitMs) });
}
