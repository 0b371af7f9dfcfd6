import { Buckets, type Rate } from "../../concurrency/bucket.js";

/**
 * Rate of bytes that the connections of an address may send for nothing: on HTTP/2 pings, settings, priorities, window
 * updates, headers beyond 4,096 bytes a call, those beyond the limit that a few bytes refer to, and frames of a few
 * bytes; on TLS records that say next to nothing. Ten of such bytes cost as much as a microsecond, and Node tells
 * nothing of most.
 */
export const OVERHEAD_RATE: Rate = Object.freeze({ perSecond: 262_144, burst: 1_048_576 });
/** Time between two looks at what connections have sent. */
export const OVERHEAD_CHECK_MS = 250;
/** Debt of an address that has sent too much: for ten seconds, no other connection of its kind begins. */
const DEBT_BYTES = 10 * OVERHEAD_RATE.perSecond;

/** Counts the bytes that the connections of each owner send for nothing. */
export class Overhead {
  readonly #bytes = new Buckets(OVERHEAD_RATE);

  /** True if a connection of the owner may begin. */
  accepts(owner: string): boolean {
    return this.#bytes.waitMs(owner) <= 0;
  }

  /** Counts bytes; false if the connection that sent them is to be ended, because it floods, or its owner sends too much. */
  allows(owner: string, bytes: number, { isFlood = false } = {}): boolean {
    this.#bytes.take(owner, bytes);
    const waitMs = this.#bytes.waitMs(owner);
    if (!isFlood && waitMs <= 0) return true;
    this.#bytes.take(owner, Math.max(0, DEBT_BYTES - (waitMs * OVERHEAD_RATE.perSecond) / 1_000));
    return false;
  }
}
