import type { Part } from "./windows.js";

/** A part of a text with its vector. */
export interface Read extends Part {
  readonly vector: Float32Array;
}

/**
 * Reduces a text's windows to at most `max`. If there are more, neighbours are joined into one with the
 * mean of their vectors: each part of the text still counts, in groups of about equal size.
 */
export function atMost(windows: readonly Read[], max: number): readonly Read[] {
  if (windows.length <= max) return windows;
  const from = (group: number) => Math.floor((group * windows.length) / max);
  return Array.from({ length: max }, (_, group) => join(windows.slice(from(group), from(group + 1))));
}

function join(windows: readonly Read[]): Read {
  const [first] = windows as [Read];
  if (windows.length === 1) return first;
  const start = Math.min(...windows.map((window) => window.start));
  const end = Math.max(...windows.map((window) => window.end));
  return { start, end, vector: meanOf(windows.map(({ vector }) => vector)) };
}

/** Returns the normalised mean, or the first vector if they cancel each other out. */
function meanOf(vectors: readonly Float32Array[]): Float32Array {
  const [first] = vectors as [Float32Array];
  const sum = new Float64Array(first.length);
  for (const vector of vectors)
    for (const [i, value] of vector.entries()) sum[i] = (sum[i] as number) + value;
  const length = Math.sqrt(sum.reduce((squares, value) => squares + value * value, 0));
  return length > 0 ? Float32Array.from(sum, (value) => value / length) : first;
}
