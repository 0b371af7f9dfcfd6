import { type Compared, comparedOf, MeanCosine, ONE, toCompare } from "./mean-cosine.js";

/** Memory that a number takes in a set, about. */
const NUMBER_BYTES = 40;

/** A memory with its vectors. */
export interface WithVectors {
  readonly sequence: number;
  readonly vectors: readonly Float32Array[];
}

/** Reads the vectors of memories, some at a time; those that are erased are left out. */
export type ReadVectors = (sequences: readonly number[]) => AsyncIterable<readonly WithVectors[]>;

/** Follows a sample of memories, which changes little by little, with the mean of their vectors. */
export class VectorMean {
  /** Sum of the memories' mean vectors, in whole numbers. */
  #sums = new Float64Array(0);
  /** Number of windows of each memory in the sum. */
  #sampled = new Map<number, number>();
  #compared: Compared = new Map();
  /** Kept, because the bytes of all open namespaces are asked for often. */
  #comparedBytes = 0;
  /** The sample is followed by one call at a time. */
  #following: Promise<unknown> = Promise.resolve();

  /** Approximate size in memory, in bytes, with the mean that was answered last. */
  get bytes(): number {
    return 2 * this.#sums.byteLength + this.#sampled.size * NUMBER_BYTES + this.#comparedBytes;
  }

  /** Returns the mean cosine to a sample's memories. Vectors are read only of what has changed. */
  follow(sample: readonly number[], read: ReadVectors): Promise<MeanCosine> {
    // Whoever began the one before got its failure.
    const following = this.#following.catch(() => {}).then(() => this.#follow(sample, read));
    this.#following = following;
    return following;
  }

  async #follow(sample: readonly number[], read: ReadVectors): Promise<MeanCosine> {
    const wanted = new Set(sample);
    await this.#subtract(
      [...this.#sampled.keys()].filter((sequence) => !wanted.has(sequence)),
      read,
    );
    const come = sample.filter((sequence) => !this.#sampled.has(sequence));
    for await (const { sequence, vectors } of each(come, read)) {
      this.#sampled.set(sequence, vectors.length);
      this.#count(vectors, 1);
    }
    const windows = sample.map((sequence) => [sequence, this.#sampled.get(sequence) ?? 0] as const);
    await this.#compare(toCompare(windows), read);
    return this.#meanCosine();
  }

  /** Subtracts vectors that are no longer in the sample. If a vector of that is erased, the sum begins anew. */
  async #subtract(left: readonly number[], read: ReadVectors): Promise<void> {
    let found = 0;
    for await (const { sequence, vectors } of each(left, read)) {
      this.#sampled.delete(sequence);
      this.#count(vectors, -1);
      found++;
    }
    if (found === left.length) return;
    this.#sums.fill(0);
    this.#sampled.clear();
  }

  /** Keeps the windows of these memories. */
  async #compare(chosen: readonly number[], read: ReadVectors): Promise<void> {
    const before = this.#compared;
    const news = new Map<number, readonly Float32Array[]>();
    const missing = chosen.filter((sequence) => !before.has(sequence));
    for await (const { sequence, vectors } of each(missing, read)) news.set(sequence, comparedOf(vectors));
    const kept = chosen.map((sequence) => [sequence, before.get(sequence) ?? news.get(sequence)] as const);
    this.#compared = new Map(kept.filter((pair): pair is [number, Float32Array[]] => pair[1] !== undefined));
    const windows = [...this.#compared.values()].flat();
    this.#comparedBytes = windows.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  #meanCosine(): MeanCosine {
    const memories = Math.max(1, this.#sampled.size);
    const multiWindow = [...this.#sampled.values()].filter((windows) => windows > 1).length;
    const mean = this.#sums.map((sum) => sum / (memories * ONE));
    return new MeanCosine(mean, multiWindow / memories, this.#compared);
  }

  #count(vectors: readonly Float32Array[], sign: 1 | -1): void {
    const { length } = vectors[0] as Float32Array;
    if (this.#sums.length === 0) this.#sums = new Float64Array(length);
    for (let i = 0; i < length; i++) {
      const sum = vectors.reduce((total, vector) => total + (vector[i] as number), 0);
      this.#sums[i] = (this.#sums[i] as number) + sign * Math.round((sum / vectors.length) * ONE);
    }
  }
}

async function* each(sequences: readonly number[], read: ReadVectors): AsyncGenerator<WithVectors> {
  for await (const some of sequences.length > 0 ? read(sequences) : []) yield* some;
}
