import type { VectorRow } from "../../../src/index/vectors/part.js";
import { seeded } from "../../simulation/time.js";

/** A memory of one vector. */
export interface Point extends VectorRow {
  readonly vector: Float32Array;
}

export function pointOf(sequence: number, vector: Float32Array): Point {
  return { sequence, opId: `op${sequence}`, vector, vectors: [vector] };
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
    return pointOf(from + i, normalised(centre.map((x, j) => x + (noise[j] as number))));
  });
}

/** Finds the numbers of the nearest rows by comparing every one. */
export function nearest(rows: readonly Point[], query: Float32Array, limit: number): number[] {
  const dot = (vector: Float32Array) => vector.reduce((sum, x, i) => sum + x * (query[i] as number), 0);
  return rows
    .map(({ sequence, vector }) => ({ sequence, score: dot(vector) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ sequence }) => sequence);
}

function gauss(dimensions: number, random: () => number): Float32Array {
  return Float32Array.from({ length: dimensions }, () => {
    return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  });
}

function normalised(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return vector.map((x) => x / length);
}

/** Converts a vector to USearch's form: the upper half of each float32, rounded to even. */
export function bf16(vector: Float32Array): Buffer {
  const bits = new Uint32Array(vector.slice().buffer);
  const halves = Uint16Array.from(bits, (x) => (x + 0x7fff + ((x >>> 16) & 1)) >>> 16);
  return Buffer.from(halves.buffer);
}
