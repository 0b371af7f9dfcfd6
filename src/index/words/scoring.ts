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

  of(length: number): number {
    return length < LENGTHS_CACHED ? (this.#cached[length] as number) : this.#compute(length);
  }

  #compute(length: number): number {
    return K1 * (1 - B + (B * length) / this.meanLength);
  }
}
