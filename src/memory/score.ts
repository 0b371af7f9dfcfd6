import type { Numbered, Stored } from "./log.js";

export interface Scored extends Numbered<Stored> {
  /** The cosine, clamped to 0…1. */
  readonly score: number;
}

/** Scores entries by their own stored vectors and orders them, best first; of equals, the older first. */
export function rank(query: Float32Array, entries: readonly Numbered<Stored>[]): Scored[] {
  return entries
    .map(({ sequence, entry }) => ({ sequence, entry, score: score(query, entry.vectors) }))
    .sort((a, b) => b.score - a.score || a.sequence - b.sequence);
}

/** The cosine of two normalised vectors, clamped to 0…1. */
export function score(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  for (let i = 0; i < a.length; i++) dot += (a[i] as number) * (b[i] as number);
  return Math.min(1, Math.max(0, dot));
}
