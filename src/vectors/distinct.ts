import type { Hit } from "../memory/ports/vectors.js";

/**
 * Number of vectors returned for each memory: the index's rounding may rank the nearest behind one or
 * two others.
 */
const HITS_PER_MEMORY = 4;

/** Found vectors, the nearest first; undefined entries stand for none. */
export interface Found {
  readonly length: number;
  at(place: number): Hit | undefined;
}

/**
 * Finds the `limit` memories nearest to a query, with a few vectors each. A long memory has many
 * vectors, which may fill the first places, so it asks `search` for more until it has enough or reaches
 * `depthMax`. `search` returns as many vectors as asked for, or all.
 */
export function searchDistinct(
  { limit, depthMax }: { limit: number; depthMax: number },
  search: (count: number) => Found,
): Hit[] {
  for (let depth = limit * HITS_PER_MEMORY; ; depth *= 4) {
    const count = Math.min(depth, depthMax);
    const found = search(count);
    const { hits, memories } = firstOf(found, limit);
    if (memories >= limit || found.length < count || count === depthMax) return hits;
  }
}

function firstOf(found: Found, limit: number): { hits: Hit[]; memories: number } {
  const hits: Hit[] = [];
  const perMemory = new Map<number, number>();
  for (let place = 0; place < found.length; place++) {
    const hit = found.at(place);
    if (hit === undefined) continue;
    const known = perMemory.get(hit.sequence) ?? 0;
    if (known === HITS_PER_MEMORY || (known === 0 && perMemory.size === limit)) continue;
    perMemory.set(hit.sequence, known + 1);
    hits.push(hit);
  }
  return { hits, memories: perMemory.size };
}
