import type { Embedding, Window } from "./embedder.js";
import type { Stored } from "./log.js";

/** Splits an embedding into its vectors: views into it, in the order of its windows. */
export function vectorsOf({ vectors, windows }: Pick<Embedding, "vectors" | "windows">): Float32Array[] {
  const count = windows?.length ?? 1;
  const dimensions = vectors.length / count;
  return Array.from({ length: count }, (_, i) => vectors.subarray(i * dimensions, (i + 1) * dimensions));
}

export function wholeOf({ text }: Pick<Stored, "text">): Window {
  return { start: 0, end: codePointsIn(text) };
}

function codePointsIn(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
