import { chanceOf } from "../test/support/chance.js";

const REPLICATES = 1000;
const SEED = 1;

/** A figure, and the interval that holds 95 % of its bootstrap replicates. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Indices of items drawn with replacement, as many as there are items. */
export type Draw = Int32Array;

/**
 * Computes a statistic over many draws with replacement. Items need not be single numbers: the statistic
 * looks them up by their index. The draws are the same every time.
 */
export function replicates(sizes: readonly number[], statistic: (...draws: Draw[]) => number): Float64Array {
  const chance = chanceOf(SEED);
  const draws = sizes.map((size) => new Int32Array(size));
  return Float64Array.from({ length: REPLICATES }, () => {
    for (const draw of draws) for (let i = 0; i < draw.length; i++) draw[i] = chance.below(draw.length);
    return statistic(...draws);
  });
}

/** Returns the percentile interval. Replicates without a value, where the divisor is 0, are left out. */
export function estimate(value: number, drawn: Float64Array): Estimate {
  const sorted = drawn.filter((each) => !Number.isNaN(each)).sort();
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN;
  return { value, low: at(0.025), high: at(0.975) };
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function estimateMean(values: readonly number[]): Estimate {
  return estimateMeanOfMeans([values]);
}

/** Returns the mean of the means of several sets, each drawn by itself, so that large sets count no more. */
export function estimateMeanOfMeans(sets: readonly (readonly number[])[]): Estimate {
  const sizes = sets.map(({ length }) => length);
  const drawn = replicates(sizes, (...draws) =>
    mean(draws.map((draw, set) => meanOf(sets[set] as readonly number[], draw))),
  );
  return estimate(mean(sets.map(mean)), drawn);
}

function meanOf(values: readonly number[], draw: Draw): number {
  let sum = 0;
  for (const i of draw) sum += values[i] as number;
  return sum / draw.length;
}
