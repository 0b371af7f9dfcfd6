import { VECTORS_MAX } from "./keys.js";
import type { VectorRow } from "./part.js";
import { firstFrom, placesOf } from "./places.js";
import { peakOf, quantize } from "./quantize.js";

/** Number of vectors in a chunk, unless a single memory has more: an exact search of one takes 0.2 to 1 ms. */
export const CHUNK_ROWS = 4096;

/**
 * What a chunk's quantised vectors have room for beyond the highest number: when one is higher yet, all are quantised
 * anew, so that is seldom.
 */
const PEAK_MARGIN = 1.05;

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
  /** Bound of the angle, in radians, between any vector and its quantised form. */
  angle = 0;
  /** Highest share of one number in a vector's length that fits into a quantised one. */
  peak: number;
  /** Bounds of the lengths of the quantised vectors other than zeros. */
  shortest = Number.POSITIVE_INFINITY;
  longest = 0;
  /** Key of each row: its memory's log number times `VECTORS_MAX`, plus its window. */
  keys: Float64Array;
  /** The same keys in order. */
  #sorted: Float64Array;
  /** Row of each of the sorted keys. */
  #rowOf: Uint32Array;

  constructor(
    readonly dimensions: number,
    { capacity, peak = 0 }: { capacity: number; peak?: number | undefined },
  ) {
    this.peak = peak;
    this.vectors = new Float32Array(capacity * dimensions);
    this.quantized = new Int8Array(capacity * dimensions);
    this.keys = new Float64Array(capacity);
    this.#sorted = new Float64Array(capacity);
    this.#rowOf = new Uint32Array(capacity);
  }

  get bytes(): number {
    const { vectors, quantized, keys } = this;
    const arrays = [vectors, quantized, keys, this.#sorted, this.#rowOf];
    return arrays.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** Lowest and highest log number in it; undefined if it is empty. */
  get range(): { readonly first: number; readonly last: number } | undefined {
    if (this.rows === 0) return undefined;
    const [first, last] = [this.#sorted[0] as number, this.#sorted[this.rows - 1] as number];
    return { first: Math.floor(first / VECTORS_MAX), last: Math.floor(last / VECTORS_MAX) };
  }

  /** True if another memory belongs here rather than into the next chunk. */
  fits(vectors: number): boolean {
    return this.rows === 0 || this.rows + vectors <= CHUNK_ROWS;
  }

  add({ sequence, vectors }: VectorRow): void {
    this.#reserve(this.rows + vectors.length);
    for (const [window, vector] of vectors.entries()) this.#append(sequence * VECTORS_MAX + window, vector);
    this.size++;
    this.upto = sequence;
  }

  /** Removes memories: the last vector moves into each gap, and its old place is overwritten with zeros. */
  remove(sequences: Iterable<number>): void {
    for (const sequence of sequences) {
      const first = sequence * VECTORS_MAX;
      const place = this.#lowerBound(first);
      if (!this.#isOf(place, sequence)) continue;
      this.size--;
      while (this.#isOf(place, sequence)) this.#removeAt(place);
    }
  }

  /** Lists the rows of some memories, whose numbers are in order. */
  rowsOf(sequences: Float64Array): Uint32Array {
    return placesOf(this.#sorted.subarray(0, this.rows), sequences).map(
      (place) => this.#rowOf[place] as number,
    );
  }

  /** Row of a vector; undefined if it is not here. */
  rowOf(key: number): number | undefined {
    const place = this.#lowerBound(key);
    return place < this.rows && this.#sorted[place] === key ? this.#rowOf[place] : undefined;
  }

  /** Adds the vectors of another one, whose memories are newer. */
  append(other: Chunk): void {
    this.#reserve(this.rows + other.rows);
    this.vectors.set(other.vectors.subarray(0, other.rows * this.dimensions), this.rows * this.dimensions);
    for (let row = 0; row < other.rows; row++) this.#note(other.keys[row] as number);
    this.#quantizeAll(Math.max(this.peak, other.peak));
    this.size += other.size;
    this.upto = other.upto;
  }

  #append(key: number, vector: Float32Array): void {
    this.vectors.set(vector, this.rows * this.dimensions);
    this.#note(key);
    const peak = peakOf(vector);
    if (peak <= this.peak) this.#quantize(this.rows - 1);
    else this.#quantizeAll(peak * PEAK_MARGIN);
  }

  #quantizeAll(peak: number): void {
    this.peak = peak;
    [this.angle, this.shortest, this.longest] = [0, Number.POSITIVE_INFINITY, 0];
    for (let row = 0; row < this.rows; row++) this.#quantize(row);
  }

  #quantize(row: number): void {
    const from = row * this.dimensions;
    const vector = this.vectors.subarray(from, from + this.dimensions);
    const { numbers, length, angle } = quantize(vector, this.peak);
    this.quantized.set(numbers, from);
    this.angle = Math.max(this.angle, angle);
    if (length > 0) this.shortest = Math.min(this.shortest, length);
    this.longest = Math.max(this.longest, length);
  }

  /** Notes the key of the next row. */
  #note(key: number): void {
    const row = this.rows++;
    this.keys[row] = key;
    // Log numbers grow, so this is nearly always the end.
    const place = this.#lowerBound(key, row);
    this.#sorted.copyWithin(place + 1, place, row);
    this.#rowOf.copyWithin(place + 1, place, row);
    this.#sorted[place] = key;
    this.#rowOf[place] = row;
  }

  #removeAt(place: number): void {
    const gap = this.#rowOf[place] as number;
    const last = this.rows - 1;
    const key = this.keys[last] as number;
    this.#rowOf[this.#lowerBound(key)] = gap;
    this.keys[gap] = key;
    for (const numbers of [this.vectors, this.quantized]) {
      numbers.copyWithin(gap * this.dimensions, last * this.dimensions, this.rows * this.dimensions);
      numbers.fill(0, last * this.dimensions, this.rows * this.dimensions);
    }
    this.#sorted.copyWithin(place, place + 1, this.rows);
    this.#rowOf.copyWithin(place, place + 1, this.rows);
    this.rows = last;
  }

  /** Lower bound: index of the first of the `end` sorted keys >= `key`; `end` if there is none. */
  #lowerBound(key: number, end = this.rows): number {
    if (end === 0 || key > (this.#sorted[end - 1] as number)) return end;
    return key <= (this.#sorted[0] as number) ? 0 : firstFrom(this.#sorted.subarray(0, end), key, 0);
  }

  #isOf(place: number, sequence: number): boolean {
    return place < this.rows && Math.floor((this.#sorted[place] as number) / VECTORS_MAX) === sequence;
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
    const [sorted, rowOf] = [this.#sorted, this.#rowOf];
    this.#sorted = new Float64Array(capacity);
    this.#sorted.set(sorted);
    this.#rowOf = new Uint32Array(capacity);
    this.#rowOf.set(rowOf);
  }
}

/** Makes a chunk of two neighbours. A search under way goes on in those. */
export function joinedOf(one: Chunk, other: Chunk): Chunk {
  const joined = new Chunk(one.dimensions, { capacity: Math.max(1, one.rows + other.rows) });
  joined.append(one);
  joined.append(other);
  return joined;
}
