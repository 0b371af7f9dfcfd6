import { MemoryError } from "../errors.js";

/** A token bucket: it holds up to `burst` tokens, and gains `perSecond` each second. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** The result of taking one token from a bucket. */
interface Taken {
  /** Time when the bucket will be full again: the state to keep if a token was taken. */
  readonly fullAtMs: number;
  /** Time until the bucket holds a token; 0 or less if one was taken. */
  readonly waitMs: number;
}

/** Tolerance: smaller than any wait that matters, larger than the rounding errors. */
const HAIR = 1e-6;

/**
 * Takes tokens, by the generic cell rate algorithm: the only state of a bucket is the time when it
 * will be full again. A bucket without state is full.
 */
function take(fullAtMs = 0, { perSecond, burst }: Rate, nowMs: number, tokens = 1): Taken {
  const oneMs = 1000 / perSecond;
  const after = Math.max(fullAtMs, nowMs) + oneMs * tokens;
  return { fullAtMs: after, waitMs: after - nowMs - burst * oneMs - HAIR };
}

/** Counts the tokens in a bucket. */
function held(fullAtMs: number, { perSecond, burst }: Rate, nowMs: number): number {
  const missing = (Math.max(0, fullAtMs - nowMs) * perSecond) / 1000;
  return Math.max(0, Math.floor(burst - missing + HAIR));
}

/** Maximum number of buckets in memory; beyond it, those used least recently start afresh. */
const BUCKETS_MAX = 10_000;

/** Token buckets of one rate, by name, in this process alone: each replica allows that much. */
export class Buckets {
  /** Time when each bucket will be full again, in the order of last use. */
  readonly #fullAtMs = new Map<string, number>();

  constructor(
    private readonly rate: Rate,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** @throws MemoryError `resource_exhausted`, RATE_LIMITED, with the time to wait, if the bucket is empty. */
  check(name: string, message: string): void {
    const waitMs = this.waitMs(name);
    if (waitMs <= 0) return;
    const seconds = Math.ceil(waitMs / 1000);
    throw new MemoryError("resource_exhausted", `${message}; try again in ${seconds} s`, {
      reason: "RATE_LIMITED",
      retryAfterMs: seconds * 1000,
    });
  }

  /** Time until the bucket holds a token; 0 or less if it does. */
  waitMs(name: string): number {
    return take(this.#fullAtMs.get(name), this.rate, this.nowMs()).waitMs;
  }

  /** The tokens in a bucket, and the time until it is full. */
  status(name: string): { readonly left: number; readonly fullInMs: number } {
    const now = this.nowMs();
    const fullAtMs = this.#fullAtMs.get(name) ?? 0;
    return { left: held(fullAtMs, this.rate, now), fullInMs: Math.max(0, fullAtMs - now) };
  }

  /** Takes a token, which `check` has found. More tokens may take the bucket below nothing. */
  take(name: string, tokens = 1): void {
    const now = this.nowMs();
    const { fullAtMs } = take(this.#fullAtMs.get(name), this.rate, now, tokens);
    // Deleted first, so that it becomes the last.
    this.#fullAtMs.delete(name);
    this.#fullAtMs.set(name, fullAtMs);
    this.#forget(now);
  }

  /** Takes a token if the bucket holds one. */
  tryTake(name: string): boolean {
    const has = take(this.#fullAtMs.get(name), this.rate, this.nowMs()).waitMs <= 0;
    if (has) this.take(name);
    return has;
  }

  /** Puts a token back that turned out not to be needed. */
  giveBack(name: string): void {
    const fullAtMs = this.#fullAtMs.get(name);
    if (fullAtMs !== undefined) this.#fullAtMs.set(name, fullAtMs - 1000 / this.rate.perSecond);
  }

  /** Forgets the oldest buckets that are full, and any above the bound. */
  #forget(nowMs: number): void {
    for (const [name, fullAtMs] of this.#fullAtMs) {
      if (fullAtMs > nowMs && this.#fullAtMs.size <= BUCKETS_MAX) break;
      this.#fullAtMs.delete(name);
    }
  }
}
