import type { Clock } from "../../concurrency/clock.js";
import { type Index, SEARCH_DEPTH_MAX, type VectorIndex, type VectorQuery } from "../ports/index.js";
import type { Projected } from "../ports/log.js";
import type { Pair } from "./score.js";

/** Size of an index up to which a search takes no noticeable time. */
const QUICK_INDEX_BYTES = 1_048_576;

export interface Query extends Pick<VectorQuery, "limit" | "spare" | "among"> {
  readonly vectors: readonly Float32Array[];
  /** Ends the search between two of the query's vectors. */
  readonly signal?: AbortSignal | undefined;
}

/** Indexes that are searched as one. */
interface Searched {
  readonly indexes: readonly (Pick<Index, "size" | "bytes"> & {
    readonly vectors: Pick<VectorIndex, "search">;
  })[];
  readonly clock: Clock;
  /** Awaits the work of an index. */
  guard<T>(work: Promise<T>): Promise<T>;
}

/** A memory near to any of a query's vectors. */
export interface Near {
  /** The highest of its pairs' similarities, as the index knows them. */
  similarity: number;
  readonly pairs: Pair[];
}

/** Memories that an index may not have had when it was searched. Every one of them may be among the best. */
export interface NewVersions {
  readonly numbers: readonly number[];
  /** True if one is visible. */
  accepts(entry: Projected["text"]): boolean;
}

/** Finds the memories near to any of a query's vectors, the nearest first: up to the limit, and the spare ones. */
export async function findNearby(
  { indexes, clock, guard }: Searched,
  { vectors, limit, spare, among, signal }: Query,
): Promise<Map<number, Near>> {
  const nearby = new Map<number, Near>();
  const size = among?.size ?? indexes.reduce((sum, index) => sum + index.size, 0);
  const searchIndexes = async (query: number, depthMax: number) => {
    signal?.throwIfAborted();
    const vector = vectors[query] as Float32Array;
    const asked = { vector, limit, depthMax, spare, among };
    const hits = (await Promise.all(indexes.map((index) => guard(index.vectors.search(asked))))).flat();
    for (const { sequence, window, similarity } of hits) {
      const known = nearby.get(sequence) ?? { similarity, pairs: [] };
      known.similarity = Math.max(known.similarity, similarity);
      known.pairs.push({ query, window });
      nearby.set(sequence, known);
    }
  };
  for (const query of vectors.keys()) {
    // A search of a large index may hold the thread for some milliseconds. A long query has many, and many
    // queries may begin at once.
    if (query > 0 || indexes.some(({ bytes }) => bytes > QUICK_INDEX_BYTES)) await clock.yield("brief");
    await searchIndexes(query, Math.ceil(SEARCH_DEPTH_MAX / vectors.length));
  }
  // If the nearest vectors all belong to a few long memories, one deep search finds others.
  if (vectors.length > 1 && nearby.size < Math.min(limit, size)) await searchIndexes(0, SEARCH_DEPTH_MAX);
  const nearest = [...nearby].sort(([i, a], [j, b]) => b.similarity - a.similarity || i - j);
  return new Map(nearest.slice(0, limit + (spare ?? 0)));
}
