/** Integer that stands for 1, so that sums are exact, whatever was added and removed before. */
const ONE = 2 ** 24;
/** Memory that a number takes in a set, about. */
const NUMBER_BYTES = 40;

/** A memory with its vectors. */
export interface WithVectors {
  readonly sequence: number;
  readonly vectors: readonly Float32Array[];
}

/** Reads the vectors of memories, some at a time; those that are erased are left out. */
export type ReadVectors = (sequences: readonly number[]) => AsyncIterable<readonly WithVectors[]>;

/** A mean of vectors, which does not change any more. */
export class MeanVector {
  constructor(
    private readonly sums: Float64Array,
    private readonly vectors: number,
  ) {}

  /** Answers the mean of a normalised vector's cosines to the vectors; 0 if there are none. */
  cosine(query: Float32Array): number {
    let dot = 0;
    for (let i = 0; i < this.sums.length; i++) dot += (query[i] as number) * (this.sums[i] as number);
    return this.vectors === 0 ? 0 : dot / (this.vectors * ONE);
  }
}

/** Follows a sample of memories, which changes little by little, with the mean of their vectors. */
export class VectorMean {
  #sums = new Float64Array(0);
  #vectors = 0;
  #sampled = new Set<number>();
  /** The sample is followed by one call at a time. */
  #following: Promise<unknown> = Promise.resolve();

  /** Approximate size in memory, in bytes, with the mean that was answered last. */
  get bytes(): number {
    return 2 * this.#sums.byteLength + this.#sampled.size * NUMBER_BYTES;
  }

  /** Answers the mean of a sample's vectors. They are read only of what has changed. */
  follow(sample: readonly number[], read: ReadVectors): Promise<MeanVector> {
    const following = this.#following.catch(() => {}).then(() => this.#follow(sample, read));
    this.#following = following;
    return following;
  }

  async #follow(sample: readonly number[], read: ReadVectors): Promise<MeanVector> {
    const wanted = new Set(sample);
    await this.#leave(
      [...this.#sampled].filter((sequence) => !wanted.has(sequence)),
      read,
    );
    const come = sample.filter((sequence) => !this.#sampled.has(sequence));
    for await (const some of come.length > 0 ? read(come) : []) {
      for (const each of some) {
        this.#sampled.add(each.sequence);
        this.#count(each.vectors, 1);
      }
    }
    return new MeanVector(this.#sums.slice(), this.#vectors);
  }

  /** Subtracts what has left the sample. If a vector of that is erased, the sum begins anew. */
  async #leave(left: readonly number[], read: ReadVectors): Promise<void> {
    if (left.length === 0) return;
    let found = 0;
    for await (const some of read(left)) {
      for (const each of some) {
        this.#sampled.delete(each.sequence);
        this.#count(each.vectors, -1);
        found++;
      }
    }
    if (found === left.length) return;
    this.#sums.fill(0);
    this.#vectors = 0;
    this.#sampled.clear();
  }

  #count(vectors: readonly Float32Array[], sign: 1 | -1): void {
    for (const vector of vectors) {
      if (this.#sums.length === 0) this.#sums = new Float64Array(vector.length);
      this.#vectors += sign;
      for (let i = 0; i < vector.length; i++) {
        this.#sums[i] = (this.#sums[i] as number) + sign * Math.round((vector[i] as number) * ONE);
      }
    }
  }
}
