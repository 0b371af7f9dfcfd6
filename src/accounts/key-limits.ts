import { MemoryError } from "../errors.js";
import { held, type Rate, take } from "./bucket.js";
import type { Plan } from "./plan.js";

/** Maximum number of remembered keys; beyond it, those used least recently start afresh. */
export const LIMITED_KEYS_MAX = 10_000;

/** Pause before a retry: a running call may end at any moment, and the unit is whole seconds. */
const CONCURRENCY_PAUSE_MS = 1_000;

/** Usage of a key's limits in this process. */
interface Used {
  fullAtMs: number;
  running: number;
}

/** The state of a key's limits, as its holder sees it. */
export interface RateLimitStatus {
  readonly rate?: { readonly limit: Rate; readonly left: number; readonly fullInMs: number };
  readonly concurrency?: { readonly limit: number; readonly left: number };
}

export interface Admission {
  readonly standing: RateLimitStatus;
  /** Why the call is refused; undefined if it may go on, until `end`. */
  readonly refusal: MemoryError | undefined;
  /** Ends the call. It must be called once. */
  end(): void;
}

/**
 * Holds each key to the rate and the concurrency of its plan, by a token bucket and a count of running
 * calls. It counts in this process alone, so each replica admits that much.
 */
export class KeyLimits {
  /** Usage by key, in the order of last use. A map and no LRU cache: keys with running calls must stay. */
  readonly #keys = new Map<string, Used>();

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  get size(): number {
    return this.#keys.size;
  }

  /** Admits or refuses a call. A refusal takes no token, so a key that calls too often is not locked out. */
  admit(keyHash: string, plan: Plan): Admission {
    if (plan.rate === undefined && plan.concurrency === undefined) return UNLIMITED;
    const now = this.nowMs();
    const used = this.#keys.get(keyHash) ?? { fullAtMs: 0, running: 0 };
    // Deleted first, so that it becomes the last.
    this.#keys.delete(keyHash);
    this.#keys.set(keyHash, used);
    const refusal = refuse(used, plan, now);
    if (refusal !== undefined) return { standing: standingOf(used, plan, now), refusal, end: () => {} };
    if (plan.rate !== undefined) used.fullAtMs = take(used.fullAtMs, plan.rate, now).fullAtMs;
    used.running += 1;
    this.#forget(now);
    const end = () => {
      used.running -= 1;
    };
    return { standing: standingOf(used, plan, now), refusal, end };
  }

  /** Forgets keys whose bucket is full and those above the bound, but none with a running call. */
  #forget(nowMs: number): void {
    for (const [key, { fullAtMs, running }] of this.#keys) {
      const over = this.#keys.size > LIMITED_KEYS_MAX;
      if (running === 0 && (over || fullAtMs <= nowMs)) this.#keys.delete(key);
      else if (!over) return;
    }
  }
}

const UNLIMITED: Admission = { standing: {}, refusal: undefined, end: () => {} };

function refuse(used: Used, { rate, concurrency }: Plan, nowMs: number): MemoryError | undefined {
  if (concurrency !== undefined && used.running >= concurrency) {
    const message = `this key has ${concurrency} calls running, which is its plan's limit`;
    const retryAfterMs = CONCURRENCY_PAUSE_MS;
    return new MemoryError("resource_exhausted", message, { reason: "CONCURRENCY_LIMITED", retryAfterMs });
  }
  const waitMs = rate === undefined ? 0 : take(used.fullAtMs, rate, nowMs).waitMs;
  if (rate === undefined || waitMs <= 0) return undefined;
  const message = `this key makes more than the ${rate.perSecond} calls a second of its plan`;
  const retryAfterMs = Math.ceil(waitMs);
  return new MemoryError("resource_exhausted", message, { reason: "KEY_RATE_LIMITED", retryAfterMs });
}

function standingOf(
  { fullAtMs, running }: Used,
  { rate, concurrency }: Plan,
  nowMs: number,
): RateLimitStatus {
  const fullInMs = Math.max(0, fullAtMs - nowMs);
  return {
    ...(rate && { rate: { limit: rate, left: held(fullAtMs, rate, nowMs), fullInMs } }),
    ...(concurrency !== undefined && { concurrency: { limit: concurrency, left: concurrency - running } }),
  };
}
