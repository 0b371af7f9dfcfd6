import { PerAccount } from "./per-account.js";

/** Calls that are kept for each account; the oldest is forgotten first. */
export const RECENT_CALLS_MAX = 500;
/** Largest size of a call in memory: its numbers, and a request id of 128 characters. */
const CALL_BYTES = 512;
/** Bytes of the calls of all accounts. */
export const RECENT_CALLS_BYTES_MAX = 16_777_216;

/** A call that has ended, without any of its texts. */
export interface NotedCall {
  readonly atMs: number;
  /** RPC as `service/method` of the contract. */
  readonly method: string;
  readonly protocol: string;
  readonly keyHash: string;
  /** Outcome: `ok`, or the name of the error. */
  readonly code: string;
  readonly ms: number;
  readonly requestId: string;
}

/** A noted call with its number: later ones have larger numbers. */
export interface NumberedCall extends NotedCall {
  readonly number: number;
}

interface Ring {
  readonly calls: NumberedCall[];
  /** Place of the next call; once the ring is full, that is the place of the oldest one. */
  next: number;
}

/**
 * Remembers the last calls of each account that this process has served. They are in memory alone: another
 * process has its own, and they end with this one.
 */
export class RecentCalls {
  /** Time since when calls are remembered. */
  readonly sinceMs = Date.now();
  #number = 0;
  readonly #rings = new PerAccount<Ring>({
    bytesMax: RECENT_CALLS_BYTES_MAX,
    open: () => ({ calls: [], next: 0 }),
  });

  note(accountId: string, call: NotedCall): void {
    this.#number++;
    const numbered = { ...call, number: this.#number };
    this.#rings.update(accountId, (ring) => {
      const grows = ring.calls.length < RECENT_CALLS_MAX;
      ring.calls[grows ? ring.calls.length : ring.next] = numbered;
      if (!grows) ring.next = (ring.next + 1) % RECENT_CALLS_MAX;
      return grows ? CALL_BYTES : 0;
    });
  }

  /** Lists an account's calls, the newest first, from those before the given number on. */
  newestFirst(accountId: string, before = Number.POSITIVE_INFINITY): NumberedCall[] {
    const { calls, next } = this.#rings.get(accountId) ?? { calls: [], next: 0 };
    const oldestFirst = [...calls.slice(next), ...calls.slice(0, next)];
    return oldestFirst.filter(({ number }) => number < before).reverse();
  }

  forget(accountId: string): void {
    this.#rings.forget(accountId);
  }
}
