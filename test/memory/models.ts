import { Generations } from "../../src/memory/generations/generations.js";
import type { Embedder } from "../../src/memory/ports/embedder.js";

/** A model whose every vector is of the given numbers. */
export function modelOf(vector: readonly number[], id = "none"): Embedder {
  return {
    model: { id, revision: "", dtype: "", dimensions: vector.length },
    embed: async () => ({ vectors: Float32Array.from(vector), tokens: 1 }),
  };
}

/** One model generation, of a model whose vectors are so long. */
export function oneGeneration(dimensions: number): Generations {
  return new Generations("", modelOf(new Array(dimensions).fill(1)));
}
