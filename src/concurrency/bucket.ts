import { MemoryError } from "../errors.js";

/** A token bucket: it holds up to `burst` tokens, and gains `perSecond` each second. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Tolerance: smaller than any wait that matters, larger than the rounding errors. */
const HAIR = 1e-6;

/** Maximum number of buckets in memory; beyond it, those used least recently start afresh. */
const BUCKETS_MAX = 10_000;

/**
 * Token buckets of one rate, by name, in this process alone: each replica allows that much. By the generic cell rate
 * algorithm, the only state of a bucket is the time when it will be full again; a bucket without state is full.
 */
export class Buckets {
  /** Time when each bucket will be full again, in the order of last use. */
  readonly #fullAtMs = new Map<string, number>();
  /** Time in which a bucket gains a token. */
  readonly #tokenMs: number;

  constructor(
    readonly rate: Rate,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.#tokenMs = 1000 / rate.perSecond;
  }

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
    return this.fullInMs(name) - (this.rate.burst - 1) * this.#tokenMs - HAIR;
  }

  /** Time until the bucket is full; 0 if it is. */
  fullInMs(name: string): number {
    return Math.max(0, (this.#fullAtMs.get(name) ?? 0) - this.nowMs());
  }

  left(name: string): number {
    return Math.max(0, Math.floor(this.rate.burst - this.fullInMs(name) / this.#tokenMs + HAIR));
  }

  /** Takes a token, which `check` has found. More tokens may take the bucket below nothing. */
  take(name: string, tokens = 1): void {
    const nowMs = this.nowMs();
    const fullAtMs = Math.max(this.#fullAtMs.get(name) ?? 0, nowMs) + this.#tokenMs * tokens;
    // Deleted first, so that it becomes the last.
    this.#fullAtMs.delete(name);
    this.#fullAtMs.set(name, fullAtMs);
    this.#forget(nowMs);
  }

  tryTake(name: string): boolean {
    const has = this.waitMs(name) <= 0;
    if (has) this.take(name);
    return has;
  }

  /** Puts a token back that turned out not to be needed. */
  giveBack(name: string): void {
    const fullAtMs = this.#fullAtMs.get(name);
    if (fullAtMs !== undefined) this.#fullAtMs.set(name, fullAtMs - this.#tokenMs);
  }

  /** Forgets the oldest buckets that are full, and any above the bound. */
  #forget(nowMs: number): void {
    for (const [name, fullAtMs] of this.#fullAtMs) {
      if (fullAtMs > nowMs && this.#fullAtMs.size <= BUCKETS_MAX) break;
      this.#fullAtMs.delete(name);
    }
  }
}
