import { LRUCache } from "lru-cache";
import { unavailable } from "../../../errors.js";
import type { Measured } from "../../../memory/ports/log.js";

/** Number of entries counted by one query: the index has about 4 MB for them. */
const RANGE_ENTRIES = 65_536;
/** Time for which a range's count is kept, although another process may erase entries in it. */
const CACHE_TTL_MS = 60_000;
/** Time limit for counting again what was counted before. */
const REFRESH_MS = 1_000;
/** Time limit for all counting of a call. */
const COUNT_TIMEOUT_MS = 4_000;
/** Maximum number of remembered ranges of all logs, which take about 2 MB. */
const RANGES_MAX = 10_000;

interface Range {
  readonly logId: string;
  readonly from: number;
  /** End of the range, exclusive. */
  readonly to: number;
}

export interface CountedOptions {
  readonly count: (range: Range) => Promise<Measured>;
  readonly nowMs?: () => number;
  readonly rangeEntries?: number;
}

/**
 * Counts what logs hold, range by range, and remembers the counts. Entries are only added at the end, so
 * the counts that are not renewed are of the beginning of a log, and this process knows what it erased
 * there.
 */
export class Counted {
  readonly #cache: LRUCache<string, Measured, Range>;
  readonly #count: CountedOptions["count"];
  readonly #nowMs: () => number;
  readonly #rangeEntries: number;

  constructor({ count, nowMs = () => performance.now(), rangeEntries = RANGE_ENTRIES }: CountedOptions) {
    this.#count = count;
    this.#nowMs = nowMs;
    this.#rangeEntries = rangeEntries;
    const lifetime = { ttl: CACHE_TTL_MS, ttlResolution: 0, perf: { now: nowMs }, noDeleteOnStaleGet: true };
    this.#cache = new LRUCache({
      max: RANGES_MAX,
      ...lifetime,
      fetchMethod: (_key, _before, { context }) => count(context),
      // A count under way of a range that is forgotten is answered, and not kept.
      ignoreFetchAbort: true,
      noDeleteOnFetchRejection: true,
    });
  }

  /**
   * Measures a log.
   *
   * @param last The number of the log's last entry.
   * @throws MemoryError `unavailable` when it takes too long; the next call continues with what is
   * counted so far.
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

  /** Forgets the counts of ranges with erased entries; must be called before they are erased and after. */
  forget(logId: string, sequences: readonly number[]): void {
    for (const sequence of sequences) {
      this.#cache.delete(keyOf({ logId, from: sequence - ((sequence - 1) % this.#rangeEntries) }));
    }
  }

  async #measure(range: Range, { last, passedMs }: { last: number; passedMs: number }): Promise<Measured> {
    const key = keyOf(range);
    const cached = this.#cache.get(key, { allowStale: passedMs > REFRESH_MS });
    if (cached !== undefined) return cached;
    if (passedMs > COUNT_TIMEOUT_MS) throw unavailable("the namespace's memories are still being counted");
    // The last range grows; entries that others append meanwhile need not be counted.
    if (range.to > last + 1) return this.#count(range);
    return (await this.#cache.fetch(key, { context: range })) as Measured;
  }
}

function keyOf({ logId, from }: Pick<Range, "logId" | "from">): string {
  return `${logId}:${from}`;
}
