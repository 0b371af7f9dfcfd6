import type { Clock } from "../../concurrency/clock.js";
import type { Among } from "../ports/among.js";
import { type Hit, type Index, SEARCH_DEPTH_MAX } from "../ports/index.js";
import type { Log, Projected } from "../ports/log.js";
import { type Pair, type Scored, score } from "./score.js";

/** Size of an index up to which a search takes no noticeable time. */
const QUICK_INDEX_BYTES = 1_048_576;

/** Bound of how far a score is from the cosine, because a vector's length is not exactly 1. */
export const SCORE_ERROR = 1e-5;

export interface Query {
  readonly vectors: readonly Float32Array[];
  /** Number of memories that the index is asked for. */
  readonly limit: number;
  /** Number of vectors to look for at first beyond one for each memory; three for each when left out. */
  readonly spare?: number | undefined;
  /** Number of memories that the caller wants, the best of those; all of them when left out. */
  readonly wanted?: number | undefined;
  /** The memories that may be found; all when left out. */
  readonly among?: Among | undefined;
  /** Ends the search between two of the query's vectors. */
  readonly signal?: AbortSignal | undefined;
}

/** A searched index, and its log. */
export interface Searched {
  readonly logId: string;
  readonly log: Pick<Log, "fetch">;
  readonly index: Pick<Index, "size" | "bytes">;
  readonly search: Index["search"];
  readonly clock: Clock;
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
  /** True if one may be shown. */
  accepts(entry: Projected["text"]): boolean;
}

/** Finds the memories near to any of a query's vectors, the nearest first. */
export async function findNearby(
  { index, search, clock }: Searched,
  { vectors, limit, spare, among, signal }: Query,
): Promise<Map<number, Near>> {
  const nearby = new Nearby();
  const { size } = among ?? index;
  const look = async (query: number, depthMax: number) => {
    signal?.throwIfAborted();
    const vector = vectors[query] as Float32Array;
    const hits = await search({ vector, limit, depthMax, spare, among });
    for (const hit of hits) nearby.add(query, hit);
  };
  for (const query of vectors.keys()) {
    // A search of a large index may hold the thread for some milliseconds. A long query has many, and many
    // queries may begin at once.
    if (query > 0 || index.bytes > QUICK_INDEX_BYTES) await clock.yield();
    await look(query, Math.ceil(SEARCH_DEPTH_MAX / vectors.length));
  }
  // If the nearest vectors all belong to a few long memories, one deep search finds others.
  if (vectors.length > 1 && nearby.size < Math.min(limit, size)) await look(0, SEARCH_DEPTH_MAX);
  return nearby.best(limit);
}

interface Found extends Pick<Query, "vectors" | "signal"> {
  readonly nearby: Map<number, Near>;
}

interface FoundBest extends Found, Pick<Query, "wanted"> {
  /** Bound of the error of a similarity. */
  readonly error: number;
  readonly newVersions: NewVersions;
}

/**
 * Scores the memories of which the best `wanted` are wanted. It reads no record of a memory that cannot be
 * among them, unless one of the others is missing in the log.
 */
export async function scoreBest(searched: Searched, found: FoundBest): Promise<Scored[]> {
  const { newVersions } = found;
  const scored = await scoreNearest(searched, found);
  if (newVersions.numbers.length === 0) return scored;
  const others = await scoreAll(searched, { ...found, sequences: newVersions.numbers });
  return [...scored, ...others.filter(({ entry }) => newVersions.accepts(entry))];
}

async function scoreNearest(searched: Searched, found: FoundBest): Promise<Scored[]> {
  const { nearby, wanted = nearby.size, error } = found;
  const lowest = similarityNeeded(nearby, wanted, error + SCORE_ERROR);
  const all = [...nearby.keys()];
  const isNear = (sequence: number) => (nearby.get(sequence) as Near).similarity >= lowest;
  const [near, far] = [all.filter(isNear), all.filter((sequence) => !isNear(sequence))];
  const scored = await scoreAll(searched, { sequences: near, ...found });
  if (scored.length === near.length || far.length === 0) return scored;
  return [...scored, ...(await scoreAll(searched, { ...found, sequences: far }))];
}

/**
 * Returns the similarity below which a memory has certainly a lower score than `wanted` others, whose
 * similarities are off by the error too. All negative cosines have the score 0, so below it nothing is
 * certain.
 */
function similarityNeeded(nearby: Map<number, Near>, wanted: number, error: number): number {
  const last = [...nearby.values()][wanted - 1]?.similarity ?? Number.NEGATIVE_INFINITY;
  return last - error > 0 ? last - 2 * error : Number.NEGATIVE_INFINITY;
}

/** Scores the memories slice by slice, so that few vectors are held at a time. */
async function scoreAll(
  searched: Searched,
  { vectors, nearby, signal, sequences }: Found & { readonly sequences: readonly number[] },
): Promise<Scored[]> {
  const all: Scored[] = [];
  for (let rest = sequences; rest.length > 0; ) {
    const scored = await scoreSome(searched, { vectors, nearby, sequences: rest });
    all.push(...scored.some);
    rest = scored.rest;
    if (rest.length === 0) break;
    await searched.clock.yield();
    signal?.throwIfAborted();
  }
  return all;
}

/** Scores one slice and releases its vectors: hundreds of recalls may wait between two slices. */
async function scoreSome(
  { logId, log }: Searched,
  { vectors, nearby, sequences }: Found & { readonly sequences: readonly number[] },
): Promise<{ some: Scored[]; rest: readonly number[] }> {
  const { found, rest } = await log.fetch({ logId, sequences, what: "all" });
  const some = found.map((each) => score(vectors, { pairs: nearby.get(each.sequence)?.pairs, ...each }));
  return { some, rest };
}

/** Hits near any of a query's vectors, by memory. */
class Nearby {
  readonly #memories = new Map<number, Near>();

  get size(): number {
    return this.#memories.size;
  }

  add(query: number, { sequence, window, similarity }: Hit): void {
    const known = this.#memories.get(sequence) ?? { similarity, pairs: [] };
    known.similarity = Math.max(known.similarity, similarity);
    known.pairs.push({ query, window });
    this.#memories.set(sequence, known);
  }

  /** Returns the `limit` memories with the nearest pairs, the nearest first. */
  best(limit: number): Map<number, Near> {
    const nearest = [...this.#memories].sort(([, a], [, b]) => b.similarity - a.similarity);
    return new Map(nearest.slice(0, limit));
  }
}
