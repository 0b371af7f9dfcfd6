import { exactSearch, MetricKind } from "usearch";
import type { Among, Hit, Mark, VectorRow } from "../memory/ports/vectors.js";
import { cosine, lengthOf } from "./cosine.js";

/** Capacity of the first chunk at its start; it doubles when full. */
const CAPACITY_MIN = 16;
/** Number of vectors in a chunk, unless a single memory has more: an exact search of one is short. */
export const CHUNK_ROWS = 1024;

/** Bound of the error of a similarity found here, which is computed in float32. */
export const EXACT_ERROR = 1e-5;

/** Some consecutive memories, each with all its vectors, in arrays with an exact search. */
export class Chunk {
  rows = 0;
  /** Number of memories in it. */
  size = 0;
  /** The last memory that was added, even if it was removed since. */
  mark: Mark = { sequence: 0, opId: "" };
  vectors: Float32Array;
  sequences: Float64Array;
  /** Index of each vector among those of its memory. */
  windows: Uint16Array;
  #first = Number.POSITIVE_INFINITY;

  constructor(
    readonly dimensions: number,
    capacity: number,
  ) {
    this.vectors = new Float32Array(capacity * dimensions);
    this.sequences = new Float64Array(capacity);
    this.windows = new Uint16Array(capacity);
  }

  get bytes(): number {
    return this.vectors.byteLength + this.sequences.byteLength + this.windows.byteLength;
  }

  /** Tells whether another memory belongs here rather than into the next chunk. */
  fits(vectors: number): boolean {
    return this.rows === 0 || this.rows + vectors <= CHUNK_ROWS;
  }

  add({ sequence, opId, vectors }: VectorRow): void {
    this.#reserve(this.rows + vectors.length);
    for (const [window, vector] of vectors.entries()) {
      this.vectors.set(vector, this.rows * this.dimensions);
      this.sequences[this.rows] = sequence;
      this.windows[this.rows] = window;
      this.rows++;
    }
    this.size++;
    this.#first = Math.min(this.#first, sequence);
    this.mark = { sequence, opId };
  }

  /** Removes memories: the last vector moves into each gap, and its old place is overwritten with zeros. */
  remove(sequences: ReadonlySet<number>): void {
    if (!this.#mayHold(sequences)) return;
    for (let row = this.rows - 1; row >= 0; row--) {
      if (!sequences.has(this.sequences[row] as number)) continue;
      if (this.windows[row] === 0) this.size--;
      const last = --this.rows;
      const from = last * this.dimensions;
      this.vectors.copyWithin(row * this.dimensions, from, from + this.dimensions);
      this.vectors.fill(0, from, from + this.dimensions);
      this.sequences[row] = this.sequences[last] as number;
      this.windows[row] = this.windows[last] as number;
    }
  }

  /** Adds its vectors nearest to one to `hits`, at most `count`. */
  search(vector: Float32Array, count: number, hits: Hit[]): void {
    if (this.rows === 0) return;
    // Both arrays begin where their buffers begin: usearch ignores an offset.
    const all = this.vectors.subarray(0, this.rows * this.dimensions);
    const wanted = Math.min(count, this.rows);
    const { keys, distances } = exactSearch(all, vector, this.dimensions, wanted, MetricKind.Cos, 1);
    for (const [i, key] of keys.entries()) {
      const row = Number(key);
      const [sequence, window] = [this.sequences[row] as number, this.windows[row] as number];
      hits.push({ sequence, window, similarity: 1 - (distances[i] as number) });
    }
  }

  /** Adds all vectors of some memories to `hits`. */
  collect(vector: Float32Array, among: Among, hits: Hit[]): void {
    const length = lengthOf(vector);
    for (let row = 0; row < this.rows; row++) {
      const [sequence, window] = [this.sequences[row] as number, this.windows[row] as number];
      if (!among.has(sequence)) continue;
      const similarity = cosine(vector, this.vectors, row * this.dimensions) / length;
      hits.push({ sequence, window, similarity });
    }
  }

  #mayHold(sequences: ReadonlySet<number>): boolean {
    for (const each of sequences) if (each >= this.#first && each <= this.mark.sequence) return true;
    return false;
  }

  #reserve(rows: number): void {
    let capacity = this.sequences.length;
    if (rows <= capacity) return;
    while (capacity < rows) capacity *= 2;
    const { vectors, sequences, windows } = this;
    this.vectors = new Float32Array(capacity * this.dimensions);
    this.vectors.set(vectors);
    this.sequences = new Float64Array(capacity);
    this.sequences.set(sequences);
    this.windows = new Uint16Array(capacity);
    this.windows.set(windows);
  }
}

/** The newest vectors of an index, in chunks: every search compares them all. */
export class Tail {
  /** Oldest first; only the last one is added to. */
  chunks: Chunk[] = [];
  #frozen = 0;

  constructor(readonly dimensions: number) {}

  get rows(): number {
    return this.#sum("rows");
  }

  get size(): number {
    return this.#sum("size");
  }

  get bytes(): number {
    return this.#sum("bytes");
  }

  add(row: VectorRow): void {
    let last = this.chunks.at(-1);
    if (last === undefined || this.chunks.length === this.#frozen || !last.fits(row.vectors.length)) {
      last = new Chunk(this.dimensions, this.chunks.length === 0 ? CAPACITY_MIN : CHUNK_ROWS);
      this.chunks.push(last);
    }
    last.add(row);
  }

  remove(sequences: ReadonlySet<number>): void {
    for (const chunk of this.chunks) chunk.remove(sequences);
  }

  /** Takes the oldest chunks with about `rows` vectors, to which no memory is added any more. */
  freeze(rows: number): Chunk[] {
    let [sum, count] = [0, 0];
    while (sum < rows && count < this.chunks.length) sum += (this.chunks[count++] as Chunk).rows;
    this.#frozen = count;
    return this.chunks.slice(0, this.#frozen);
  }

  /** Lets the frozen chunks go, because they are found elsewhere now, or keeps them. */
  thaw({ drop }: { drop: boolean }): void {
    if (drop) this.chunks = this.chunks.slice(this.#frozen);
    this.#frozen = 0;
  }

  #sum(what: "rows" | "size" | "bytes"): number {
    let sum = 0;
    for (const chunk of this.chunks) sum += chunk[what];
    return sum;
  }
}
