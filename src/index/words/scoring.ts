import { REMOVED } from "../rows/inverted.js";

// BM25 in Lucene's form, with the constants that were measured best together with cosines.
const K1 = 0.9;
const B = 0.75;
const LENGTHS_CACHED = 256;

/** Rarity of a word that `holding` of `memories` memories have. */
export function rarityOf(memories: number, holding: number): number {
  return Math.log(1 + (memories - holding + 0.5) / (holding + 0.5));
}

/** Score that a word adds to a memory; `factor` is the word's rarity, times its number in the query. */
export function gainOf(factor: number, weight: number, norm: number): number {
  return (factor * weight * (K1 + 1)) / (weight + norm);
}

/** Computes what a memory's length takes from its scores. */
export class Norms {
  readonly #cached = new Float64Array(LENGTHS_CACHED);

  constructor(private readonly meanLength: number) {
    for (let length = 0; length < LENGTHS_CACHED; length++) this.#cached[length] = this.#compute(length);
  }

  normFor(length: number): number {
    return length < LENGTHS_CACHED ? (this.#cached[length] as number) : this.#compute(length);
  }

  #compute(length: number): number {
    return K1 * (1 - B + (B * length) / this.meanLength);
  }
}

/**
 * Weights that a posting can have: the number of times that the text has the word, exact up to 16 and rounded
 * down beyond. A posting keeps the place in this list, so another list, such as a learned one, needs no other
 * format. A removed row has the weight 0, so that a search adds nothing for it.
 */
export const WEIGHTS = new Float64Array(REMOVED + 1);
const GIVEN = Array.from({ length: 16 }, (_, i) => i + 1);
GIVEN.push(20, 24, 28, 32, 40, 48, 64, 80, 96, 128, 192, 256, 512, 1024, 4096, 16_384);
WEIGHTS.set(GIVEN);

/** Returns the place of the largest weight that is not above a number of times, which is at least 1. */
export function weightIndexOf(times: number): number {
  return times <= 16 ? times - 1 : GIVEN.findLastIndex((weight) => weight <= times);
}
