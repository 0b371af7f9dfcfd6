import { exactSearch, MetricKind } from "usearch";
import type { Hit, VectorIndex } from "../memory/ports/vectors.js";
import { searchDistinct } from "./distinct.js";
import type { Single } from "./single.js";

/** Capacity of a new index in vectors; it doubles when full. */
const CAPACITY_MIN = 16;

/** Vectors in one array with an exact search, for as many as a scan handles in a millisecond. */
export class Flat {
  /** Number of memories in it. */
  size = 0;
  /** Number of vectors in it. */
  rows = 0;
  #vectors: Float32Array;
  #sequences: Float64Array;
  /** Index of each vector among those of its memory. */
  #windows: Uint16Array;

  constructor(readonly dimensions: number) {
    this.#vectors = new Float32Array(CAPACITY_MIN * dimensions);
    this.#sequences = new Float64Array(CAPACITY_MIN);
    this.#windows = new Uint16Array(CAPACITY_MIN);
  }

  get bytes(): number {
    return this.#vectors.byteLength + this.#sequences.byteLength + this.#windows.byteLength;
  }

  add(added: readonly Single[]): void {
    this.#reserve(this.rows + added.length);
    for (const { sequence, window, vector } of added) {
      this.#vectors.set(vector, this.rows * this.dimensions);
      this.#sequences[this.rows] = sequence;
      this.#windows[this.rows] = window;
      this.rows++;
      if (window === 0) this.size++;
    }
  }

  /** Removes memories: the last vector moves into each gap, and its old place is overwritten with zeros. */
  remove(sequences: readonly number[]): void {
    const gone = new Set(sequences);
    for (let row = this.rows - 1; row >= 0; row--) {
      if (!gone.has(this.#sequences[row] as number)) continue;
      if (this.#windows[row] === 0) this.size--;
      const last = --this.rows;
      const from = last * this.dimensions;
      this.#vectors.copyWithin(row * this.dimensions, from, from + this.dimensions);
      this.#vectors.fill(0, from, from + this.dimensions);
      this.#sequences[row] = this.#sequences[last] as number;
      this.#windows[row] = this.#windows[last] as number;
    }
  }

  /** Searches like `VectorIndex.search`. */
  search({ vector, limit, depthMax = this.rows }: Parameters<VectorIndex["search"]>[0]): Hit[] {
    // The query is copied, because usearch reads from the start of its buffer, whatever its offset.
    const query = vector.slice();
    const all = this.#vectors.subarray(0, this.rows * this.dimensions);
    if (this.rows === 0) return [];
    const bounded = { limit: Math.min(limit, this.size), depthMax: Math.min(depthMax, this.rows) };
    return searchDistinct(bounded, (count) => {
      const { keys, distances } = exactSearch(all, query, this.dimensions, count, MetricKind.Cos, 1);
      return {
        length: keys.length,
        at: (place) => this.#hit(Number(keys[place]), distances[place] as number),
      };
    });
  }

  /** Returns some of its vectors in the order of arrival, as views that the next `add` may move. */
  slice(from: number, to: number): Single[] {
    return Array.from(this.#sequences.subarray(from, to), (sequence, i) => {
      const at = (from + i) * this.dimensions;
      const vector = this.#vectors.subarray(at, at + this.dimensions);
      return { sequence, window: this.#windows[from + i] as number, vector };
    });
  }

  #hit(row: number, distance: number): Hit {
    const [sequence, window] = [this.#sequences[row] as number, this.#windows[row] as number];
    return { sequence, window, similarity: 1 - distance };
  }

  #reserve(rows: number): void {
    let capacity = this.#sequences.length;
    if (rows <= capacity) return;
    while (capacity < rows) capacity *= 2;
    const vectors = new Float32Array(capacity * this.dimensions);
    vectors.set(this.#vectors);
    this.#vectors = vectors;
    const sequences = new Float64Array(capacity);
    sequences.set(this.#sequences);
    this.#sequences = sequences;
    const windows = new Uint16Array(capacity);
    windows.set(this.#windows);
    this.#windows = windows;
  }
}
