import type { Window } from "../ports/embedder.js";
import type { Projected, Sequenced, Stored } from "../ports/log.js";
import { vectorsOf, wholeOf } from "../ports/windows.js";
import type { Recency } from "../requests/recall-options.js";
import { recencyOfMemory } from "./recency.js";

/** A memory that an index found. */
export interface Candidate extends Sequenced<Stored> {
  /** The pairs of its vectors and the query's that are near; all are compared when left out. */
  readonly pairs?: readonly Pair[] | undefined;
}

/** Number of a query's vector and number of a memory's vector. */
export interface Pair {
  readonly query: number;
  readonly window: number;
}

export interface Scored extends Sequenced<Projected["text"]> {
  /** The cosine of the nearest pair, clamped to 0…1. */
  readonly score: number;
  /** The part of the text that has this score; undefined if it is the whole text. */
  readonly part: Window | undefined;
}

/** A scored memory with the part that it was found by. */
export interface Ranked extends Omit<Scored, "part"> {
  /** The part of the text that has this score. */
  readonly match: Window;
}

/** Scores a candidate by its stored vectors, and releases them. */
export function score(query: readonly Float32Array[], candidate: Candidate): Scored {
  const { score, window } = nearest(query, candidate);
  const { vectors, windows, ...entry } = candidate.entry;
  return { sequence: candidate.sequence, entry, score, part: windows?.[window] };
}

/**
 * Leaves out older versions of memories. A search that goes on while a memory is updated may find both, as long
 * as the old one is not erased.
 */
export function latestOf<T>(some: readonly T[], numbered: (each: T) => Sequenced<Projected["head"]>): T[] {
  const latest = new Map<string, number>();
  for (const { sequence, entry } of some.map(numbered)) {
    latest.set(entry.id, Math.max(sequence, latest.get(entry.id) ?? 0));
  }
  return some.filter((each) => {
    const { sequence, entry } = numbered(each);
    return latest.get(entry.id) === sequence;
  });
}

/** Returns the `limit` best, best first; of equals, the older comes first. */
export function rank(scored: readonly Scored[], limit: number): Ranked[] {
  const living = latestOf(scored, (each) => each);
  const best = living.sort((a, b) => b.score - a.score || a.sequence - b.sequence).slice(0, limit);
  return best.map(withMatch);
}

interface RankingInTime {
  readonly recency: Recency;
  readonly limit: number;
  /** Lowest score that they may have, which age does not count for. */
  readonly minScore: number;
}

/** Returns the `limit` best by their scores and what their ages add to these, as `rank` does. */
export function rankInTime(scored: readonly Scored[], { recency, limit, minScore }: RankingInTime) {
  const high = latestOf(scored, (each) => each).filter(({ score }) => score >= minScore);
  const ranked = high.map((each) => ({ ...each, recency: recencyOfMemory(recency, each.entry) }));
  ranked.sort((a, b) => b.score + b.recency - a.score - a.recency || a.sequence - b.sequence);
  return ranked.slice(0, limit).map(({ recency, ...each }) => ({ ...withMatch(each), recency }));
}

/** Names the part of a scored memory, the whole text if there is no other. */
export function withMatch({ part, ...scored }: Scored): Ranked {
  return { match: part ?? wholeOf(scored.entry), ...scored };
}

function nearest(query: readonly Float32Array[], { entry, pairs }: Candidate) {
  const vectors = vectorsOf(entry);
  let best = { score: 0, window: 0 };
  for (const { query: number, window } of pairs ?? allPairs(query.length, vectors.length)) {
    const score = cosine(query[number] as Float32Array, vectors[window] as Float32Array);
    if (score > best.score) best = { score, window };
  }
  return best;
}

function* allPairs(queries: number, windows: number): Generator<Pair> {
  for (let query = 0; query < queries; query++) {
    for (let window = 0; window < windows; window++) yield { query, window };
  }
}

/** Pairs of windows up to which two texts are compared as wholes. */
const PAIRS_MAX = 4_096;

/** Score of two texts: that of their most similar parts. */
export function scoreOf(some: readonly Float32Array[], others: readonly Float32Array[]): number {
  let best = 0;
  for (const a of some) for (const b of others) best = Math.max(best, cosine(a, b));
  return best;
}

/**
 * How much two texts say the same, from 0 to 1: the lowest score that any window of either has for the other
 * text. 0 if they have too many windows to compare.
 */
export function likeness(some: readonly Float32Array[], others: readonly Float32Array[]): number {
  if (some.length * others.length > PAIRS_MAX) return 0;
  const scores = [
    ...some.map((each) => scoreOf([each], others)),
    ...others.map((each) => scoreOf(some, [each])),
  ];
  return Math.min(...scores);
}

/** Computes the cosine of two normalised vectors, clamped to 0…1. */
function cosine(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  for (let i = 0; i < a.length; i++) dot += (a[i] as number) * (b[i] as number);
  return Math.min(1, Math.max(0, dot));
}
