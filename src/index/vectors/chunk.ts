import type { IndexRow } from "../../memory/ports/index.js";
import { lowerBound, type Range } from "../rows/lower-bound.js";
import { keyOf, parseKey, positionsOf, VECTORS_MAX } from "./keys.js";
import { peakOf, quantize } from "./quantize.js";

/** Number of vectors in a chunk, unless a single memory has more: an exact search of one takes 0.2 to 1 ms. */
export const CHUNK_ROWS = 4096;

/**
 * Factor by which the range of a chunk's quantised vectors exceeds their highest number. All are quantised again when a
 * number is out of the range, so that should be rare.
 */
const PEAK_MARGIN = 1.05;

export type VectorRow = Omit<IndexRow, "memory"> & { readonly vectors: readonly Float32Array[] };

/** Some consecutive memories, each with all its vectors, as int8 for comparing all and as float32 for exactness. */
export class Chunk {
  /** Number of vectors in it. */
  rows = 0;
  /** Number of memories in it. */
  size = 0;
  /** Number of the last memory that was added, even if it was removed since. */
  upto = 0;
  vectors: Float32Array;
  quantized: Int8Array;
  /** Key of each row, in order. */
  keys: Float64Array;
  /** Bound of the angle, in radians, between any vector and its quantised form. */
  angle = 0;
  /** Highest share of one number in a vector's length that fits into a quantised one. */
  peak: number;
  /** Bounds of the lengths of the quantised vectors other than zeros. */
  shortest = Number.POSITIVE_INFINITY;
  longest = 0;

  constructor(
    readonly dimensions: number,
    { capacity, peak = 0 }: { capacity: number; peak?: number | undefined },
  ) {
    this.peak = peak;
    this.vectors = new Float32Array(capacity * dimensions);
    this.quantized = new Int8Array(capacity * dimensions);
    this.keys = new Float64Array(capacity);
  }

  /** Makes a chunk of two neighbours. A search under way goes on in those. */
  static joined(one: Chunk, other: Chunk): Chunk {
    const capacity = Math.max(1, one.rows + other.rows);
    const joined = new Chunk(one.dimensions, { capacity, peak: Math.max(one.peak, other.peak) });
    for (const chunk of [one, other]) {
      for (let row = 0; row < chunk.rows; row++)
        joined.#insert(chunk.keys[row] as number, chunk.#vectorAt(row));
      joined.size += chunk.size;
      joined.upto = chunk.upto;
    }
    return joined;
  }

  get bytes(): number {
    return this.vectors.byteLength + this.quantized.byteLength + this.keys.byteLength;
  }

  /** True if another memory belongs here rather than into the next chunk. */
  fits(vectors: number): boolean {
    return this.rows === 0 || this.rows + vectors <= CHUNK_ROWS;
  }

  add({ sequence, vectors }: VectorRow): void {
    this.#reserve(this.rows + vectors.length);
    for (const [window, vector] of vectors.entries()) this.#insert(keyOf(sequence, window), vector);
    this.size++;
    this.upto = sequence;
  }

  /** Removes memories, whose numbers are in order: those behind them move up, and the end is overwritten with zeros. */
  remove(sequences: Float64Array): void {
    const gone = this.rowsOf(sequences);
    let end = gone[0] ?? this.rows;
    for (const [i, row] of gone.entries()) {
      if ((this.keys[row] as number) % VECTORS_MAX === 0) this.size--;
      end += this.#move({ from: row + 1, to: gone[i + 1] ?? this.rows }, end);
    }
    for (const numbers of [this.vectors, this.quantized]) {
      numbers.fill(0, end * this.dimensions, this.rows * this.dimensions);
    }
    this.rows = end;
  }

  /** Lowest and highest log number in it; undefined if it is empty. */
  get range(): { readonly first: number; readonly last: number } | undefined {
    if (this.rows === 0) return undefined;
    const [first, last] = [this.keys[0] as number, this.keys[this.rows - 1] as number];
    return { first: parseKey(first).sequence, last: parseKey(last).sequence };
  }

  /** Lists the rows of some memories, whose numbers are in order. */
  rowsOf(sequences: Float64Array): Uint32Array {
    return positionsOf(this.keys.subarray(0, this.rows), sequences);
  }

  /** Puts a vector where it belongs, which is the end when log numbers grow. */
  #insert(key: number, vector: Float32Array): void {
    const row = lowerBound(this.keys, key, { to: this.rows });
    this.#move({ from: row, to: this.rows++ }, row + 1);
    this.keys[row] = key;
    this.vectors.set(vector, row * this.dimensions);
    const peak = peakOf(vector);
    if (peak <= this.peak) this.#quantize(row);
    else this.#quantizeAll(peak * PEAK_MARGIN);
  }

  #quantizeAll(peak: number): void {
    this.peak = peak;
    [this.angle, this.shortest, this.longest] = [0, Number.POSITIVE_INFINITY, 0];
    for (let row = 0; row < this.rows; row++) this.#quantize(row);
  }

  #quantize(row: number): void {
    const { numbers, length, angle } = quantize(this.#vectorAt(row), this.peak);
    this.quantized.set(numbers, row * this.dimensions);
    this.angle = Math.max(this.angle, angle);
    if (length > 0) this.shortest = Math.min(this.shortest, length);
    this.longest = Math.max(this.longest, length);
  }

  #vectorAt(row: number): Float32Array {
    return this.vectors.subarray(row * this.dimensions, (row + 1) * this.dimensions);
  }

  /** Moves rows, from one to before another; returns their number. */
  #move({ from, to }: Range, position: number): number {
    this.keys.copyWithin(position, from, to);
    for (const numbers of [this.vectors, this.quantized]) {
      numbers.copyWithin(position * this.dimensions, from * this.dimensions, to * this.dimensions);
    }
    return to - from;
  }

  #reserve(rows: number): void {
    let capacity = this.keys.length;
    if (rows <= capacity) return;
    while (capacity < rows) capacity *= 2;
    const { vectors, quantized, keys } = this;
    this.vectors = new Float32Array(capacity * this.dimensions);
    this.vectors.set(vectors);
    this.quantized = new Int8Array(capacity * this.dimensions);
    this.quantized.set(quantized);
    this.keys = new Float64Array(capacity);
    this.keys.set(keys);
  }
}
