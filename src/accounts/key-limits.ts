import { MemoryError } from "../errors.js";
import { held, type Rate, take } from "./bucket.js";
import type { Plan } from "./plan.js";

/** Keys that are remembered at most; of more, those used least recently start afresh. */
export const LIMITED_KEYS_MAX = 10_000;

/** A call that runs may end at any moment: the shortest pause that can be told in whole seconds. */
const CONCURRENCY_PAUSE_MS = 1_000;

/** What a key has used of its limits in this process. */
interface Used {
  fullAtMs: number;
  running: number;
}

/** Where a key stands with its limits, for its holder to see. */
export interface RateLimitStatus {
  readonly rate?: { readonly limit: Rate; readonly left: number; readonly fullInMs: number };
  readonly concurrency?: { readonly limit: number; readonly left: number };
}

export interface Admission {
  readonly standing: RateLimitStatus;
  /** Why the call is refused; undefined when it may go on, until `end`. */
  readonly refusal: MemoryError | undefined;
  /** To be called when the call is over, once. */
  end(): void;
}

/**
 * Holds each key to the rate and the concurrency of its plan: a token bucket, and a count of what
 * runs. In this process alone: with replicas, each admits as much.
 */
export class KeyLimits {
  /** In the order of use. */
  readonly #keys = new Map<string, Used>();

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  get size(): number {
    return this.#keys.size;
  }

  /** A refused call takes nothing of the bucket: who comes too often is not locked out for it. */
  admit(keyHash: string, plan: Plan): Admission {
    if (plan.rate === undefined && plan.concurrency === undefined) return UNLIMITED;
    const now = this.nowMs();
    const used = this.#keys.get(keyHash) ?? { fullAtMs: 0, running: 0 };
    // Deleted first, to stand last.
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

  /** Those whose bucket is full, and any above the bound; but none of whom a call runs. */
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
