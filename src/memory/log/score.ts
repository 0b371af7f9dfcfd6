import type { Window } from "../ports/embedder.js";
import { type Numbered, type Seen, type Stored, seen } from "../ports/log.js";
import { vectorsOf, wholeOf } from "./windows.js";

/** A memory that an index found, with the pairs of its vectors and the query's that are near. */
export interface Candidate extends Numbered<Stored> {
  readonly pairs: readonly Pair[];
}

/** Number of a query's vector and number of a memory's vector. */
export interface Pair {
  readonly query: number;
  readonly window: number;
}

export interface Scored extends Numbered<Seen["text"]> {
  /** The cosine of the nearest pair, clamped to 0…1. */
  readonly score: number;
  /** The part of the text that has this score; undefined if it is the whole text. */
  readonly part: Window | undefined;
}

export interface Ranked extends Omit<Scored, "part"> {
  /** The part of the text that has this score. */
  readonly match: Window;
}

/** Scores a candidate by its stored vectors, and releases them. */
export function score(query: readonly Float32Array[], candidate: Candidate): Scored {
  const { score, window } = nearest(query, candidate);
  const { sequence, entry } = candidate;
  return { sequence, entry: seen(entry, "text") as Seen["text"], score, part: entry.windows?.[window] };
}

/** Answers the `limit` best, best first; of equals, the older comes first. */
export function rank(scored: readonly Scored[], limit: number): Ranked[] {
  const best = scored.toSorted((a, b) => b.score - a.score || a.sequence - b.sequence).slice(0, limit);
  return best.map(({ part, ...each }) => ({ ...each, match: part ?? wholeOf(each.entry) }));
}

function nearest(query: readonly Float32Array[], { entry, pairs }: Candidate) {
  const vectors = vectorsOf(entry);
  let best = { score: 0, window: 0 };
  for (const { query: number, window } of pairs) {
    const score = cosine(query[number] as Float32Array, vectors[window] as Float32Array);
    if (score > best.score) best = { score, window };
  }
  return best;
}

/** Computes the cosine of two normalised vectors, clamped to 0…1. */
function cosine(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  for (let i = 0; i < a.length; i++) dot += (a[i] as number) * (b[i] as number);
  return Math.min(1, Math.max(0, dot));
}
