import type { Embedding, Window } from "./embedder.js";
import type { Stored } from "./log.js";

/** The vectors of an embedding one by one: views into it, in the order of its windows. */
export function vectorsOf({ vectors, windows }: Pick<Embedding, "vectors" | "windows">): Float32Array[] {
  const count = windows?.length ?? 1;
  const dimensions = vectors.length / count;
  return Array.from({ length: count }, (_, i) => vectors.subarray(i * dimensions, (i + 1) * dimensions));
}

/** The part of a memory's text that its vector with this number is of. */
export function windowOf({ text, windows }: Pick<Stored, "text" | "windows">, number: number): Window {
  return windows?.[number] ?? { start: 0, end: codePointsIn(text) };
}

function codePointsIn(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
