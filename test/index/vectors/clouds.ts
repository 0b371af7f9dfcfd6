import type { VectorRow } from "../../../src/index/vectors/chunk.js";
import { seeded } from "../../simulation/time.js";

/** A memory of one vector. */
export interface Point extends VectorRow {
  readonly vector: Float32Array;
}

export function pointOf(sequence: number, vector: Float32Array): Point {
  return { sequence, vector, vectors: [vector] };
}

/** Makes normalised vectors around a few centres, as texts lie around topics; the same for the same seed. */
export function cloud(
  count: number,
  { dimensions, seed = 1, from = 1 }: { dimensions: number; seed?: number; from?: number },
): Point[] {
  const random = seeded(seed);
  const centres = Array.from({ length: 32 }, () => gauss(dimensions, random));
  return Array.from({ length: count }, (_, i) => {
    const centre = centres[Math.floor(random() * centres.length)] as Float32Array;
    const noise = gauss(dimensions, random);
    return pointOf(from + i, normalisedSum(centre, noise));
  });
}

/** Finds the numbers of the nearest rows by comparing every one. */
export function nearest(rows: readonly Point[], query: Float32Array, limit: number): number[] {
  const scores = Float64Array.from(rows, ({ vector }) => dot(vector, query));
  return highest(scores, limit).map((at) => (rows[at] as Point).sequence);
}

/** Returns the indices of the highest scores, the best first. Only those are sorted with the index that they have. */
export function highest(scores: Float64Array, limit: number): number[] {
  const least = scores.toSorted().at(-limit) ?? Number.NEGATIVE_INFINITY;
  const found: number[] = [];
  for (let at = 0; at < scores.length; at++) if ((scores[at] as number) >= least) found.push(at);
  return found.sort((a, b) => (scores[b] as number) - (scores[a] as number)).slice(0, limit);
}

// Plain loops take a fifth of the time of callbacks for each number, and most of these tests' time is here.

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

function gauss(dimensions: number, random: () => number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (let i = 0; i < dimensions; i++)
    vector[i] = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return vector;
}

/** Returns the sum of two vectors, made as long as 1. */
function normalisedSum(a: Float32Array, b: Float32Array): Float32Array {
  const sum = new Float32Array(a.length);
  for (let i = 0; i < a.length; i++) sum[i] = (a[i] as number) + (b[i] as number);
  const length = Math.sqrt(dot(sum, sum));
  for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) / length;
  return sum;
}

/** Converts a vector to USearch's form: the upper half of each float32, rounded to even. */
export function bf16(vector: Float32Array): Buffer {
  const bits = new Uint32Array(vector.slice().buffer);
  const halves = Uint16Array.from(bits, (x) => (x + 0x7fff + ((x >>> 16) & 1)) >>> 16);
  return Buffer.from(halves.buffer);
}
