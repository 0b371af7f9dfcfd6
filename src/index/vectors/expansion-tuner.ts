import type { Hit, RecallMeasured } from "../../memory/ports/index.js";

/** Expansion (ef) of the first searches of a graph, and its bounds. */
const EXPANSION_FIRST = 256;
const EXPANSION_MIN = 64;
const EXPANSION_MAX = 1024;
/** Maximum expansion of a search on the main thread: it takes about 2 ms. Larger ones run in a thread. */
export const EXPANSION_HERE_MAX = 512;
/** Least expansion in each of several graphs. */
const EXPANSION_EACH_MIN = 32;
/** Share of the nearest vectors that searches should find. */
const TARGET = 0.995;
/**
 * Logarithm of what one missed vector widens the searches by. Each one found narrows them by as much less as misses
 * should be rarer, so the expansion stays where the share is the target: it takes no count of checks that is too small
 * to tell .995 from .99.
 */
const STEP = 0.2;
/** Share of one core that checks may take, and the least time between two. */
const BUSY_SHARE = 0.02;
const PAUSE_MS_MIN = 1_000;

/** Number of checks before which it is not known yet how broad searches must be. */
export const CHECKS_FIRST = 30;

/** Number of the nearest vectors that a check compares. */
export const CHECKED = 10;

/**
 * Measures what searches of the graphs of one index find, by searching a served query again exactly, now and
 * then, and sets their expansion as high as it needs to be.
 */
export class ExpansionTuner {
  #expansion = EXPANSION_FIRST;
  #nextMs = 0;
  #checking = false;
  #checks = 0;

  /** Expansion of a search in each of some graphs, by their numbers of vectors. */
  expansionIn(vectors: readonly number[]): number {
    // A small graph beside a large one spares the large one nothing.
    const graphs = vectors.reduce((sum, each) => sum + each, 0) / Math.max(1, ...vectors);
    // Together they must find what one would.
    return Math.max(EXPANSION_EACH_MIN, Math.round(this.#expansion / Math.sqrt(Math.max(1, graphs))));
  }

  /**
   * True if what was missed asks for searches so broad that comparing all of a few graphs' vectors is no slower, or if
   * it is not known yet.
   */
  get isBroad(): boolean {
    return this.#checks < CHECKS_FIRST || this.#expansion > EXPANSION_HERE_MAX;
  }

  /** True if a check can begin: none is under way, and the last one was some time ago. */
  isDue(nowMs: number): boolean {
    return !this.#checking && nowMs >= this.#nextMs;
  }

  /** True if one of the first checks can begin. */
  isFirstDue(nowMs: number): boolean {
    return this.#checks < CHECKS_FIRST && this.isDue(nowMs);
  }

  /** Checks a search, unless another check is under way or not long ago; resolves when it is done. */
  async check(
    nowMs: number,
    exactly: () => Promise<RecallMeasured | undefined>,
  ): Promise<RecallMeasured | undefined> {
    if (!this.isDue(nowMs)) return undefined;
    this.#checking = true;
    const startMs = performance.now();
    try {
      const checked = await exactly();
      if (checked !== undefined && checked.compared > 0) this.#note(checked);
      return checked;
    } finally {
      const tookMs = performance.now() - startMs;
      this.#nextMs = nowMs + Math.max(PAUSE_MS_MIN, tookMs / BUSY_SHARE);
      this.#checking = false;
    }
  }

  #note({ found, compared }: RecallMeasured): void {
    this.#checks++;
    const excess = compared - found - (1 - TARGET) * compared;
    const expansion = this.#expansion * Math.exp(STEP * excess);
    this.#expansion = Math.max(EXPANSION_MIN, Math.min(EXPANSION_MAX, expansion));
  }
}

/** Counts how many of the nearest vectors a search found; both lists may be in any order. */
export function compare(nearest: readonly Hit[], found: readonly Hit[]): RecallMeasured {
  const best = (hits: readonly Hit[]) =>
    hits.toSorted((a, b) => b.similarity - a.similarity).slice(0, CHECKED);
  const keyOf = ({ sequence, window }: Hit) => `${sequence} ${window}`;
  const had = new Set(best(found).map(keyOf));
  const truly = best(nearest);
  return { found: truly.filter((hit) => had.has(keyOf(hit))).length, compared: truly.length };
}
