/** Integer that stands for 1, so that sums are exact, in whatever order. */
export const ONE = 2 ** 24;
/** Windows of sampled memories that are compared one by one, about. */
const COMPARED_WINDOWS = 256;
/** Windows of one memory that are compared, evenly spaced. */
const COMPARED_OF_ONE = 64;

/** A memory of several windows, with those that are compared one by one. */
export type Compared = ReadonlyMap<number, readonly Float32Array[]>;

/**
 * Returns the mean cosine of queries to memories, each by its best window, as its score is. The mean over all
 * windows comes from a sum of vectors; how much the best window is above it, from some of the memories.
 */
export class MeanCosine {
  constructor(
    /** Mean of the memories' mean vectors. */
    private readonly mean: Float64Array,
    /** Share of the memories that have several windows. */
    private readonly severalShare: number,
    private readonly compared: Compared,
  ) {}

  of(query: readonly Float32Array[]): number {
    if (this.mean.length === 0) return 0;
    const overall = query.reduce((sum, vector) => sum + dot(vector, this.mean), 0) / query.length;
    const compared = [...this.compared.values()];
    const above = compared.reduce((sum, windows) => sum + Math.round(aboveMean(query, windows) * ONE), 0);
    return overall + (this.severalShare * above) / (Math.max(1, compared.length) * ONE);
  }
}

/** Selects the first memories that together have enough windows to compare. */
export function toCompare(memories: Iterable<readonly [number, number]>): number[] {
  const chosen: number[] = [];
  let windows = 0;
  for (const [sequence, count] of memories) {
    if (windows >= COMPARED_WINDOWS) break;
    if (count < 2) continue;
    chosen.push(sequence);
    windows += Math.min(count, COMPARED_OF_ONE);
  }
  return chosen;
}

/** Copies those of a memory's windows that are compared, so that the others can be let go. */
export function comparedOf(vectors: readonly Float32Array[]): Float32Array[] {
  const step = Math.ceil(vectors.length / COMPARED_OF_ONE);
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
