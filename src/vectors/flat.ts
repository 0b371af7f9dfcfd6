import { exactSearch, MetricKind } from "usearch";
import type { VectorRow } from "../memory/vectors.js";

/** Rows a new index has room for; doubled when full. */
const CAPACITY_MIN = 16;

/** Vectors side by side in one array, searched exactly: right for as many as a scan takes a millisecond. */
export class Flat {
  size = 0;
  #rows: Float32Array;
  #sequences: Float64Array;

  constructor(readonly dimensions: number) {
    this.#rows = new Float32Array(CAPACITY_MIN * dimensions);
    this.#sequences = new Float64Array(CAPACITY_MIN);
  }

  get bytes(): number {
    return this.#rows.byteLength + this.#sequences.byteLength;
  }

  add(rows: readonly VectorRow[]): void {
    this.#reserve(this.size + rows.length);
    for (const { sequence, vector } of rows) {
      this.#rows.set(vector, this.size * this.dimensions);
      this.#sequences[this.size] = sequence;
      this.size++;
    }
  }

  /** Takes rows out: the last one moves into each gap, and its old place is overwritten with zeros. */
  remove(sequences: readonly number[]): void {
    const gone = new Set(sequences);
    for (let row = this.size - 1; row >= 0; row--) {
      if (!gone.has(this.#sequences[row] as number)) continue;
      const last = --this.size;
      const from = last * this.dimensions;
      this.#rows.copyWithin(row * this.dimensions, from, from + this.dimensions);
      this.#rows.fill(0, from, from + this.dimensions);
      this.#sequences[row] = this.#sequences[last] as number;
    }
  }

  /** The numbers of the `limit` nearest, best first. */
  search(vector: Float32Array, limit: number): number[] {
    const count = Math.min(limit, this.size);
    if (count === 0) return [];
    const rows = this.#rows.subarray(0, this.size * this.dimensions);
    // A copy of the query: usearch reads from the start of its buffer, whatever its offset.
    const { keys } = exactSearch(rows, vector.slice(), this.dimensions, count, MetricKind.Cos, 1);
    return Array.from(keys as BigUint64Array, (row) => this.#sequences[Number(row)] as number);
  }

  /** Some of its rows, in the order they came; their vectors are views that the next `add` may move. */
  slice(from: number, to: number): VectorRow[] {
    return Array.from(this.#sequences.subarray(from, to), (sequence, i) => {
      const at = (from + i) * this.dimensions;
      return { sequence, vector: this.#rows.subarray(at, at + this.dimensions) };
    });
  }

  #reserve(size: number): void {
    let capacity = this.#sequences.length;
    if (size <= capacity) return;
    while (capacity < size) capacity *= 2;
    const rows = new Float32Array(capacity * this.dimensions);
    rows.set(this.#rows);
    this.#rows = rows;
    const sequences = new Float64Array(capacity);
    sequences.set(this.#sequences);
    this.#sequences = sequences;
  }
}
