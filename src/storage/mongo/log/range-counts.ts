import { LRUCache } from "lru-cache";
import type { Measured } from "../../../memory/ports/log.js";

/** Number of entries counted by one query: the index has about 4 MB for them. */
const RANGE_ENTRIES = 65_536;
/** Time for which a range's count is kept, although another process may erase entries in it. */
const CACHE_TTL_MS = 60_000;
/** Maximum number of remembered ranges of all logs, which take about 2 MB. */
const RANGES_MAX = 10_000;

interface Range {
  readonly logId: string;
  readonly from: number;
  /** End of the range, exclusive. */
  readonly to: number;
}

export interface RangeCountsOptions {
  readonly count: (range: Range) => Promise<Measured>;
  readonly nowMs?: () => number;
  readonly rangeEntries?: number;
}

/**
 * Counts what logs hold, range by range, and remembers the counts. Entries are only added at the end, so
 * the counts that are not renewed are of the beginning of a log, and this process knows what it erased
 * there.
 */
export class RangeCounts {
  readonly #cache: LRUCache<string, Measured, Range>;
  readonly #rangeEntries: number;

  constructor(private readonly options: RangeCountsOptions) {
    const { count, nowMs = () => performance.now(), rangeEntries = RANGE_ENTRIES } = options;
    this.#rangeEntries = rangeEntries;
    this.#cache = new LRUCache({
      max: RANGES_MAX,
      ttl: CACHE_TTL_MS,
      ttlResolution: 0,
      perf: { now: nowMs },
      fetchMethod: (_key, _before, { context }) => count(context),
      // A count under way of a range that is forgotten is answered, and not kept.
      ignoreFetchAbort: true,
    });
  }

  /** Measures a log, of which `last` is the number of the last entry. */
  async measure(logId: string, last: number): Promise<Measured> {
    let [memories, bytes] = [0, 0];
    for (let from = 1; from <= last; from += this.#rangeEntries) {
      const range = { logId, from, to: from + this.#rangeEntries };
      // The last range grows; entries that others append meanwhile need not be counted.
      const measured =
        range.to > last + 1
          ? await this.options.count(range)
          : ((await this.#cache.fetch(keyOf(range), { context: range })) as Measured);
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
}

function keyOf({ logId, from }: Pick<Range, "logId" | "from">): string {
  return `${logId}:${from}`;
}
