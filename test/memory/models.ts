import { Generations } from "../../src/memory/generations/generations.js";
import type { Embedder } from "../../src/memory/ports/embedder.js";

/** Makes a model that returns this vector for every text. */
export function modelOf(vector: readonly number[], id = "none"): Embedder {
  return {
    model: { id, revision: "", dtype: "", dimensions: vector.length },
    embed: async () => ({ vectors: Float32Array.from(vector), tokens: 1 }),
    unreadShare: () => 0,
  };
}

/** Makes one model generation, of a model with vectors of this length. */
export function oneGeneration(dimensions: number): Generations {
  return new Generations("", modelOf(new Array(dimensions).fill(1)));
}
