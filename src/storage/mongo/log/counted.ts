import { unavailable } from "../../../errors.js";
import type { Measured } from "../../../memory/ports/log.js";

/** Numbers counted by one question: the index has about 4 MB for them. */
const RANGE_ENTRIES = 65_536;
/** How long a range's count is believed, though another process may have erased something in it. */
const KEPT_MS = 60_000;
/** Time for counting again what was counted before. */
const REFRESH_MS = 1_000;
/** Time for counting at all. */
const COUNT_TIMEOUT_MS = 4_000;
/** Ranges remembered, of all logs together: together about 2 MB. */
const RANGES_MAX = 10_000;

interface Range {
  readonly logId: string;
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

interface Kept {
  readonly measured: Measured;
  readonly atMs: number;
}

export interface CountedOptions {
  /** Asks the database how much the entries of a range hold. */
  readonly count: (range: Range) => Promise<Measured>;
  readonly nowMs?: () => number;
  readonly rangeEntries?: number;
}

/**
 * How much logs hold, counted range by range and remembered: entries are only ever added at the end, so
 * what this process does not count anew is the beginning of a log, of which it knows what it erased itself.
 */
export class Counted {
  readonly #kept = new Map<string, Kept>();
  readonly #count: CountedOptions["count"];
  readonly #nowMs: () => number;
  readonly #rangeEntries: number;
  #erasures = 0;

  constructor({ count, nowMs = () => performance.now(), rangeEntries = RANGE_ENTRIES }: CountedOptions) {
    this.#count = count;
    this.#nowMs = nowMs;
    this.#rangeEntries = rangeEntries;
  }

  /**
   * @param last The number of the log's last entry.
   * @throws MemoryError `unavailable` when it takes too long; what was counted is not counted again.
   */
  async measure(logId: string, last: number): Promise<Measured> {
    const begunMs = this.#nowMs();
    let [memories, bytes] = [0, 0];
    for (let from = 1; from <= last; from += this.#rangeEntries) {
      const range = { logId, from, to: from + this.#rangeEntries };
      const measured = await this.#measure(range, { last, passedMs: this.#nowMs() - begunMs });
      memories += measured.memories;
      bytes += measured.bytes;
    }
    return { memories, bytes };
  }

  /** What was erased is not counted any more. To be called before it is erased and after. */
  forget(logId: string, sequences: readonly number[]): void {
    this.#erasures++;
    for (const sequence of sequences) {
      const from = sequence - ((sequence - 1) % this.#rangeEntries);
      this.#kept.delete(keyOf({ logId, from }));
    }
  }

  async #measure(range: Range, { last, passedMs }: { last: number; passedMs: number }): Promise<Measured> {
    const kept = this.#kept.get(keyOf(range));
    const isYoung = kept !== undefined && this.#nowMs() - kept.atMs < KEPT_MS;
    if (kept !== undefined && (isYoung || passedMs > REFRESH_MS)) return kept.measured;
    if (passedMs > COUNT_TIMEOUT_MS) throw unavailable("the namespace's memories are still being counted");
    const { logId, from, to } = range;
    const erasures = this.#erasures;
    // A range at the end grows: what others append there meanwhile need not be in it.
    const measured = await this.#count({ logId, from, to });
    if (to <= last + 1 && erasures === this.#erasures) this.#keep(range, measured);
    return measured;
  }

  #keep(range: Range, measured: Measured): void {
    const key = keyOf(range);
    this.#kept.delete(key);
    this.#kept.set(key, { measured, atMs: this.#nowMs() });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > RANGES_MAX && oldest !== undefined) this.#kept.delete(oldest);
  }
}

function keyOf({ logId, from }: Pick<Range, "logId" | "from">): string {
  return `${logId}:${from}`;
}
