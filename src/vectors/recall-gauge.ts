import type { Hit, RecallMeasured } from "../memory/ports/vectors.js";

/** Breadth of the first searches of a graph, and its bounds. */
export const BREADTH_FIRST = 256;
const BREADTH_MIN = 64;
const BREADTH_MAX = 1024;
/** Maximum breadth of a search on the main thread: it takes about 2 ms. Broader ones run in a thread. */
export const BREADTH_HERE_MAX = 512;
/** Least breadth in each of several graphs. */
const BREADTH_EACH_MIN = 32;
/** Share of the nearest vectors that searches should find. */
const TARGET = 0.995;
/**
 * Logarithm of what one missed vector widens the searches by. Each one found narrows them by as much less as misses
 * should be rarer, so the breadth stays where the share is the target: it takes no count of checks that is too small
 * to tell .995 from .99.
 */
const STEP = 0.2;
/** Share of one core that checks may take, and the least time between two. */
const BUSY_SHARE = 0.02;
const PAUSE_MS_MIN = 1_000;

/** Number of the nearest vectors that a check compares. */
export const CHECKED = 10;

/**
 * Measures what searches of the graphs of one index find, by searching a served query again exactly, now and
 * then, and makes searches as broad as they need to be.
 */
export class RecallGauge {
  #breadth = BREADTH_FIRST;
  #nextMs = 0;
  #checking = false;

  /** Breadth of a search in each of some graphs, by their numbers of vectors. */
  breadthIn(vectors: readonly number[]): number {
    // A small graph beside a large one spares the large one nothing.
    const graphs = vectors.reduce((sum, each) => sum + each, 0) / Math.max(1, ...vectors);
    return breadthIn(this.#breadth, Math.max(1, graphs));
  }

  /** Tells whether a search may be checked now: no check is under way, and the last one is long enough ago. */
  isDue(nowMs: number): boolean {
    return !this.#checking && nowMs >= this.#nextMs;
  }

  /** Checks a search if that is due; resolves when it is done. */
  async check(
    nowMs: number,
    exactly: () => Promise<RecallMeasured | undefined>,
  ): Promise<RecallMeasured | undefined> {
    if (!this.isDue(nowMs)) return undefined;
    this.#checking = true;
    const startMs = performance.now();
    try {
      const checked = await exactly();
      if (checked !== undefined && checked.of > 0) this.#note(checked);
      return checked;
    } finally {
      const tookMs = performance.now() - startMs;
      this.#nextMs = nowMs + Math.max(PAUSE_MS_MIN, tookMs / BUSY_SHARE);
      this.#checking = false;
    }
  }

  #note({ found, of }: RecallMeasured): void {
    const excess = of - found - (1 - TARGET) * of;
    const breadth = this.#breadth * Math.exp(STEP * excess);
    this.#breadth = Math.max(BREADTH_MIN, Math.min(BREADTH_MAX, breadth));
  }
}

/** Divides a breadth among graphs: together they must find what one would. */
export function breadthIn(breadth: number, graphs: number): number {
  return Math.max(BREADTH_EACH_MIN, Math.round(breadth / Math.sqrt(graphs)));
}

/** Counts how many of the nearest vectors a search found; both lists may be in any order. */
export function compare(nearest: Hit[], found: Hit[]): RecallMeasured {
  const best = (hits: Hit[]) => hits.sort((a, b) => b.similarity - a.similarity).slice(0, CHECKED);
  const keyOf = ({ sequence, window }: Hit) => `${sequence} ${window}`;
  const had = new Set(best(found).map(keyOf));
  const truly = best(nearest);
  return { found: truly.filter((hit) => had.has(keyOf(hit))).length, of: truly.length };
}
