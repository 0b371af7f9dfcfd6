import { CHUNK_ROWS, Chunk, type VectorRow } from "./chunk.js";
import { VECTORS_MAX } from "./keys.js";

/** Capacity of a chunk at its start; it doubles when full. */
const CAPACITY_FIRST = 16;
/** Number of vectors up to which two chunks become one. */
const JOINED_ROWS_MAX = CHUNK_ROWS / 2;

/** The newest vectors of an index, in chunks: every search compares them all. */
export class Tail {
  /** Oldest first; only the last one is added to. */
  chunks: readonly Chunk[] = [];
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

  /** True if it can hold these vectors of one memory: each of the right length, and finite. */
  fits(vectors: readonly Float32Array[]): boolean {
    const { dimensions } = this;
    const whole = vectors.every((vector) => vector.length === dimensions && vector.every(Number.isFinite));
    return whole && vectors.length > 0 && vectors.length <= VECTORS_MAX;
  }

  add(row: VectorRow): void {
    let last = this.chunks.at(-1);
    if (last === undefined || this.chunks.length === this.#frozen || !last.fits(row.vectors.length)) {
      last = new Chunk(this.dimensions, { capacity: CAPACITY_FIRST, peak: last?.peak });
      this.chunks = [...this.chunks, last];
    }
    last.add(row);
  }

  remove(sequences: readonly number[]): void {
    const ordered = Float64Array.from(new Set(sequences)).sort();
    for (const chunk of this.chunks) chunk.remove(ordered);
    this.#join();
  }

  clear(): void {
    this.chunks = [];
  }

  /** Takes the oldest chunks with about `rows` vectors, to which no memory is added any more. */
  freeze(rows: number): readonly Chunk[] {
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

  /** Joins neighbours that lost much, so that memory and the time of a search follow the number of vectors. */
  #join(): void {
    const open = this.chunks.slice(this.#frozen);
    const joined: Chunk[] = [];
    // The last one may be empty: it is added to.
    for (const chunk of open.filter(({ rows }, i) => rows > 0 || i === open.length - 1)) {
      const last = joined.at(-1);
      const few = last !== undefined && last.rows + chunk.rows <= JOINED_ROWS_MAX;
      if (few) joined.splice(-1, 1, Chunk.joined(last, chunk));
      else joined.push(chunk);
    }
    if (joined.length < open.length) this.chunks = [...this.chunks.slice(0, this.#frozen), ...joined];
  }

  #sum(what: "rows" | "size" | "bytes"): number {
    let sum = 0;
    for (const chunk of this.chunks) sum += chunk[what];
    return sum;
  }
}
