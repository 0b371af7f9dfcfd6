import { LRUCache } from "lru-cache";
import { SLICE_BYTES_MAX } from "../../../memory/pacing/bounds.js";
import type { What } from "../../../memory/ports/log.js";

/** Maximum number of remembered weights of logs. */
const REMEMBERED_MAX = 10_000;
/** Maximum number of documents asked for at a time, and assumed weight while a log's is unknown. */
const ASK_MAX = 512;
const UNKNOWN_BYTES = { all: 1_048_576, vectors: 1_048_576, text: 65_536, head: 8_192 } as const;

/**
 * Remembers the weight of each log's entries that were read last, to ask for just as many as fill a
 * slice. MongoDB never sends more than 16 MB at once.
 */
export class Weights {
  readonly #bytes = new LRUCache<string, number>({ max: REMEMBERED_MAX });

  /** Returns the expected weight of one of the log's entries, in bytes. */
  of(logId: string, what: What): number {
    return this.#bytes.get(`${logId} ${what}`) ?? UNKNOWN_BYTES[what];
  }

  /** Returns how many entries to ask for, so that they fill what is left of a slice. */
  askable(logId: string, { what, bytes }: { what: What; bytes: number }): number {
    const left = Math.ceil((SLICE_BYTES_MAX - bytes) / this.of(logId, what));
    return Math.max(1, Math.min(ASK_MAX, left));
  }

  note(logId: string, { what, entries, bytes }: { what: What; entries: number; bytes: number }): void {
    if (entries === 0) return;
    this.#bytes.set(`${logId} ${what}`, bytes / entries);
  }
}
