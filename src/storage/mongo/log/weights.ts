import { LRUCache } from "lru-cache";
import { SLICE_BYTES_MAX } from "../../../memory/pacing/bounds.js";
import type { What } from "../../../memory/ports/log.js";

/** Logs of which it is remembered how heavy their entries are. */
const REMEMBERED_MAX = 10_000;
/** Documents asked for at a time at most, and how heavy those are of which nothing is known yet. */
const ASK_MAX = 512;
const UNKNOWN_BYTES = { all: 1_048_576, vectors: 1_048_576, text: 65_536, head: 8_192 } as const;

/**
 * How heavy the entries of each log were that were read last: so many are asked for that they fill a slice,
 * and few are sent in vain. Whatever is asked for, MongoDB sends no more than 16 MB at once.
 */
export class Weights {
  readonly #bytes = new LRUCache<string, number>({ max: REMEMBERED_MAX });

  /** What one of its entries is expected to weigh. */
  of(logId: string, what: What): number {
    return this.#bytes.get(`${logId} ${what}`) ?? UNKNOWN_BYTES[what];
  }

  /** How many entries to ask for, so that they fill what is left of a slice. */
  askable(logId: string, { what, bytes }: { what: What; bytes: number }): number {
    const left = Math.ceil((SLICE_BYTES_MAX - bytes) / this.of(logId, what));
    return Math.max(1, Math.min(ASK_MAX, left));
  }

  note(logId: string, { what, entries, bytes }: { what: What; entries: number; bytes: number }): void {
    if (entries === 0) return;
    this.#bytes.set(`${logId} ${what}`, bytes / entries);
  }
}
