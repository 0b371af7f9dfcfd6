/** 1 in the fixed-point numbers that are summed: their sums are exact, in whatever order. */
const ONE = 2 ** 24;
/** Approximate number of windows of sampled memories that are compared one by one. */
const COMPARED_WINDOWS = 256;
/** Maximum number of windows of one memory that are compared, evenly spaced. */
const COMPARED_OF_EACH = 64;

/** Approximate heap bytes of one number in a Set or a Map. */
const NUMBER_BYTES = 40;

/** A memory with its vectors. */
interface WithVectors {
  readonly sequence: number;
  readonly vectors: readonly Float32Array[];
}

/** Reads the vectors of memories; those that are erased, or of another model, are left out. */
type ReadVectors = (sequences: readonly number[]) => AsyncIterable<WithVectors>;

/**
 * The mean cosine to a sample of the living memories, which changes little by little: the vectors of what has changed
 * are read alone.
 */
export class SampledMean {
  /** Sum of the memories' mean vectors, in whole numbers. */
  #sums = new Float64Array(0);
  /** Number of windows of each memory in the sum. */
  #sampled = new Map<number, number>();
  #compared: Compared = new Map();
  /** Cached, because the bytes of all open namespaces are asked for often. */
  #comparedBytes = 0;
  #known: { readonly version: number; readonly mean: Promise<MeanCosine> } | undefined;

  constructor(private readonly read: ReadVectors) {}

  /** Approximate size in memory, in bytes, with the mean that was answered last. */
  get bytes(): number {
    return 2 * this.#sums.byteLength + this.#sampled.size * NUMBER_BYTES + this.#comparedBytes;
  }

  /**
   * Returns the mean for a version of the memories; it is computed once for each, one version at a time.
   *
   * @param sample lists the log numbers of a sample of them
   */
  meanAt(version: number, sample: () => Promise<readonly number[]>): Promise<MeanCosine> {
    if (this.#known?.version === version) return this.#known.mean;
    // The caller that began the one before got its failure.
    const before = this.#known?.mean.catch(() => {});
    const mean = Promise.resolve(before).then(async () => this.#follow(await sample()));
    const known = { version, mean };
    this.#known = known;
    mean.catch(() => {
      // The next call tries again.
      if (this.#known === known) this.#known = undefined;
    });
    return mean;
  }

  async #follow(sample: readonly number[]): Promise<MeanCosine> {
    const wanted = new Set(sample);
    await this.#subtract([...this.#sampled.keys()].filter((sequence) => !wanted.has(sequence)));
    const added = sample.filter((sequence) => !this.#sampled.has(sequence));
    for await (const { sequence, vectors } of this.read(added)) {
      this.#sampled.set(sequence, vectors.length);
      this.#count(vectors, 1);
    }
    const windows = sample.map((sequence) => [sequence, this.#sampled.get(sequence) ?? 0] as const);
    await this.#compare(toCompare(windows));
    return this.#meanCosine();
  }

  /** Subtracts memories that have left the sample. If the vectors of one are erased, the sum begins anew. */
  async #subtract(gone: readonly number[]): Promise<void> {
    let found = 0;
    for await (const { sequence, vectors } of this.read(gone)) {
      this.#sampled.delete(sequence);
      this.#count(vectors, -1);
      found++;
    }
    if (found === gone.length) return;
    this.#sums.fill(0);
    this.#sampled.clear();
  }

  /** Holds the windows of these memories, to compare them, in place of those before. */
  async #compare(chosen: readonly number[]): Promise<void> {
    const before = this.#compared;
    const news = new Map<number, readonly Float32Array[]>();
    const missing = chosen.filter((sequence) => !before.has(sequence));
    for await (const { sequence, vectors } of this.read(missing)) news.set(sequence, comparedOf(vectors));
    const pairs = chosen.map((sequence) => [sequence, before.get(sequence) ?? news.get(sequence)] as const);
    this.#compared = new Map(pairs.filter((pair): pair is [number, Float32Array[]] => pair[1] !== undefined));
    const windows = [...this.#compared.values()].flat();
    this.#comparedBytes = windows.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** The mean over all windows comes from the sum of vectors; how much the best is above it, from some memories. */
  #meanCosine(): MeanCosine {
    const memories = Math.max(1, this.#sampled.size);
    const multiWindow = [...this.#sampled.values()].filter((windows) => windows > 1).length;
    const mean = this.#sums.map((sum) => sum / (memories * ONE));
    const compared = [...this.#compared.values()];
    return (query) => {
      if (mean.length === 0) return 0;
      const overall = query.reduce((sum, vector) => sum + dot(vector, mean), 0) / query.length;
      const above = compared.reduce((sum, windows) => sum + Math.round(aboveMean(query, windows) * ONE), 0);
      return overall + ((multiWindow / memories) * above) / (Math.max(1, compared.length) * ONE);
    };
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

/** A memory of several windows, with those that are compared one by one. */
type Compared = ReadonlyMap<number, readonly Float32Array[]>;

/** The mean cosine of a query to memories, each by its best window, as its score is. */
export type MeanCosine = (query: readonly Float32Array[]) => number;

/** Selects the first memories that together have enough windows to compare. */
function toCompare(memories: Iterable<readonly [number, number]>): number[] {
  const chosen: number[] = [];
  let windows = 0;
  for (const [sequence, count] of memories) {
    if (windows >= COMPARED_WINDOWS) break;
    if (count < 2) continue;
    chosen.push(sequence);
    windows += Math.min(count, COMPARED_OF_EACH);
  }
  return chosen;
}

/** Copies those of a memory's windows that are compared, so that the others can be let go. */
function comparedOf(vectors: readonly Float32Array[]): Float32Array[] {
  const step = Math.ceil(vectors.length / COMPARED_OF_EACH);
  return vectors.filter((_, i) => i % step === 0).map((vector) => vector.slice());
}

/** Computes by how much the best pair's cosine is above the mean of all pairs. */
function aboveMean(query: readonly Float32Array[], windows: readonly Float32Array[]): number {
  let best = -1;
  let sum = 0;
  for (const vector of query) {
    for (const window of windows) {
      const cosine = dot(vector, window);
      sum += cosine;
      best = Math.max(best, cosine);
    }
  }
  return best - sum / (query.length * windows.length);
}

function dot(a: Float32Array, b: Float32Array | Float64Array): number {
  let sum = 0;
  for (let i = 0; i < b.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}
