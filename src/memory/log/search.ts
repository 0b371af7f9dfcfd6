import type { Hit } from "../ports/vectors.js";
import type { Pair } from "./score.js";

/** What was found near any of a query's vectors, by memory. */
export class Nearby {
  readonly #memories = new Map<number, { similarity: number; readonly pairs: Pair[] }>();

  get size(): number {
    return this.#memories.size;
  }

  add(query: number, { sequence, window, similarity }: Hit): void {
    const known = this.#memories.get(sequence) ?? { similarity, pairs: [] };
    known.similarity = Math.max(known.similarity, similarity);
    known.pairs.push({ query, window });
    this.#memories.set(sequence, known);
  }

  /** The pairs of the `limit` memories with the nearest pairs. */
  best(limit: number): Map<number, Pair[]> {
    const nearest = [...this.#memories].sort(([, a], [, b]) => b.similarity - a.similarity).slice(0, limit);
    return new Map(nearest.map(([sequence, { pairs }]) => [sequence, pairs]));
  }
}
