import type { Hit, RowCounts, VectorQuery } from "../../memory/ports/index.js";
import { searchDistinct } from "./distinct.js";
import { EXACT_ERROR, nearestInTail } from "./nearest-in-tail.js";
import type { VectorPart, VectorRow } from "./part.js";
import { Tail } from "./tail.js";

/** An index without files: every search compares all vectors, and none is missed, whatever its size. */
export class InMemoryIndex implements VectorPart {
  readonly error = EXACT_ERROR;
  readonly isExact = true;
  readonly waiting = 0;
  onLost: () => void = () => {};
  readonly #tail: Tail;
  #closed = false;

  constructor(dimensions: number) {
    this.#tail = new Tail(dimensions);
  }

  get size(): number {
    return this.#tail.size;
  }

  get bytes(): number {
    return this.#tail.bytes;
  }

  get rowCounts(): RowCounts {
    return { tail: this.#tail.rows, removed: 0, behind: 0 };
  }

  async restore(): Promise<undefined> {
    return undefined;
  }

  async reset(): Promise<void> {
    this.#tail.clear();
  }

  fits(vectors: readonly Float32Array[]): boolean {
    return this.#tail.fits(vectors);
  }

  async add(rows: readonly VectorRow[]): Promise<void> {
    for (const { vectors } of rows) this.#check(vectors);
    for (const row of rows) this.#tail.add(row);
  }

  async remove(sequences: readonly number[]): Promise<void> {
    this.#tail.remove(new Set(sequences));
  }

  async search({ vector, limit, depthMax, spare, among }: VectorQuery): Promise<Hit[]> {
    this.#check([vector]);
    // The vector is copied, because usearch reads from the start of its buffer, whatever its offset.
    const query = vector.slice();
    const { rows, size } = this.#tail;
    const memories = Math.min(limit, among?.size ?? size, size);
    if (memories === 0) return [];
    const depth = among === undefined ? Math.min(depthMax ?? rows, rows) : rows;
    return searchDistinct({ limit: memories, depthMax: depth, spare }, async (count) => {
      const hits = await nearestInTail(this.#tail.chunks, { vector: query, count, among });
      return { hits, all: hits.length < count };
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#tail.clear();
  }

  #check(vectors: readonly Float32Array[]): void {
    if (this.#closed) throw new Error("the index is closed");
    this.#tail.check(vectors);
  }
}
