import type { Embedding, Window } from "./embedder.js";
import type { Index, IndexRow } from "./index.js";
import type { Sequenced, Stored } from "./log.js";

/** Splits an embedding into its vectors: views into it, in the order of its windows. */
export function vectorsOf({ vectors, windows }: Pick<Embedding, "vectors" | "windows">): Float32Array[] {
  const count = windows?.length ?? 1;
  const dimensions = vectors.length / count;
  return Array.from({ length: count }, (_, i) => vectors.subarray(i * dimensions, (i + 1) * dimensions));
}

/** Makes the row of a memory, without vectors if they do not fit the index. */
export function rowFor(index: Pick<Index, "fits">, { sequence, entry }: Sequenced<Stored>): IndexRow {
  const vectors = vectorsOf(entry);
  return { sequence, memory: entry, vectors: index.fits(vectors) ? vectors : undefined };
}

/** The window that is a whole text. */
export function wholeOf({ text }: Pick<Stored, "text">): Window {
  let end = 0;
  for (const _ of text) end++;
  return { start: 0, end };
}
