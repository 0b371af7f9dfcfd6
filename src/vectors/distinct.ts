import type { Hit } from "../memory/vectors.js";

/**
 * The vectors nearest to a query, so many that `limit` memories are among them: a long memory has many
 * vectors, which may fill the first places. `search` answers as many as it is asked for, or all.
 */
export function searchDistinct(limit: number, search: (count: number) => Hit[]): Hit[] {
  for (let count = limit; ; count *= 2) {
    const hits = search(count);
    if (hits.length < count || new Set(hits.map(({ sequence }) => sequence)).size >= limit) return hits;
  }
}
