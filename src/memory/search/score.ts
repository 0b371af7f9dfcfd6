import type { Window } from "../ports/embedder.js";
import type { Projected, Sequenced, Stored } from "../ports/log.js";
import { vectorsOf } from "../ports/windows.js";

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

/**
 * Scores a memory by its stored vectors, and releases them.
 *
 * @param pairs those of its vectors and the query's that are near; all are compared when left out
 */
export function score(
  query: readonly Float32Array[],
  { sequence, entry: stored }: Sequenced<Stored>,
  pairs?: readonly Pair[],
): Scored {
  const all = vectorsOf(stored);
  let best = { score: 0, window: 0 };
  for (const { query: number, window } of pairs ?? allPairs(query.length, all.length)) {
    const score = cosine(query[number] as Float32Array, all[window] as Float32Array);
    if (score > best.score) best = { score, window };
  }
  const { vectors, windows, ...entry } = stored;
  return { sequence, entry, score: best.score, part: windows?.[best.window] };
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
