import type { Embedder, Embedding } from "../../src/memory/ports/embedder.js";
import { seeded } from "../simulation/time.js";

export const TOY_DIMENSIONS = 16;
/** Number of words above which a text has several windows, and of words in each. */
const WORDS_MAX = 12;
const WINDOW_WORDS = 6;

/** A model by which texts are near to each other if they share words. */
export const toyEmbedder: Embedder = {
  model: { id: "toy", revision: "", dtype: "", dimensions: TOY_DIMENSIONS },
  embed: async ({ text }) => toyEmbedding(text),
  unreadShare: () => 0,
};

export function toyEmbedding(text: string): Embedding {
  const words = text.split(" ");
  if (words.length <= WORDS_MAX) return { vectors: vectorOf(words), tokens: words.length };
  const parts = Array.from({ length: Math.ceil(words.length / WINDOW_WORDS) }, (_, i) =>
    words.slice(i * WINDOW_WORDS, (i + 1) * WINDOW_WORDS),
  );
  const vectors = Float32Array.from(parts.flatMap((part) => [...vectorOf(part)]));
  return { vectors, tokens: words.length, windows: parts.map((_, i) => ({ start: i, end: i + 1 })) };
}

function vectorOf(words: readonly string[]): Float32Array {
  const sum = new Float32Array(TOY_DIMENSIONS);
  for (const word of words) {
    const random = seeded([...word].reduce((hash, char) => hash * 31 + char.charCodeAt(0), 7));
    for (let i = 0; i < TOY_DIMENSIONS; i++) sum[i] = (sum[i] as number) + random() - 0.35;
  }
  const length = Math.hypot(...sum);
  return sum.map((value) => value / length);
}
