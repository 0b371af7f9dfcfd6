import type { Hit } from "../../memory/ports/index.js";

/**
 * Number of vectors returned for each memory: the index's rounding may rank the nearest behind one or
 * two others.
 */
const HITS_PER_MEMORY = 4;

/** Found vectors, the nearest first. */
export interface Found {
  readonly hits: readonly Hit[];
  /** True if there are no others. */
  readonly all: boolean;
}

/** Number of memories to find, and of vectors to look at. */
export interface Depth {
  readonly limit: number;
  readonly depthMax: number;
  /** Number of vectors to look for at first beyond one for each memory. */
  readonly spare?: number | undefined;
}

/**
 * Finds the `limit` memories nearest to a query, with a few vectors each. A long memory has many
 * vectors, which may fill the first places, so it asks `search` for more until it has enough or reaches
 * `depthMax`. `search` returns at least as many vectors as asked for, or all.
 */
export async function searchDistinct(
  { limit, depthMax, spare = limit * (HITS_PER_MEMORY - 1) }: Depth,
  search: (count: number) => Promise<Found>,
): Promise<Hit[]> {
  for (let depth = limit + spare; ; depth *= 4) {
    const count = Math.min(depth, depthMax);
    const found = await search(count);
    const { hits, memories } = firstOf(found, limit);
    if (memories >= limit || found.all || count === depthMax) return hits;
  }
}

function firstOf({ hits: found }: Found, limit: number): { hits: Hit[]; memories: number } {
  const hits: Hit[] = [];
  const perMemory = new Map<number, number>();
  for (const hit of found) {
    const known = perMemory.get(hit.sequence) ?? 0;
    if (known === HITS_PER_MEMORY || (known === 0 && perMemory.size === limit)) continue;
    perMemory.set(hit.sequence, known + 1);
    hits.push(hit);
  }
  return { hits, memories: perMemory.size };
}
