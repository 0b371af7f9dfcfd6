import { blockAfter, memoryOf } from "./posting.js";
import type { Slab } from "./slab.js";

/**
 * A place in a word's postings. Those from `at` to `end` (exclusive) on `page` come next; then `advance` goes
 * to the next block. It is valid until the index is written to.
 */
export interface Cursor {
  page: Uint32Array;
  at: number;
  end: number;
  /** Goes to the next block; false if there is none. */
  advance(): boolean;
}

/** Makes a cursor for a word with one posting. */
export function cursorAtOnly(posting: number): Cursor {
  return { page: Uint32Array.of(posting), at: 0, end: 1, advance: () => false };
}

/** Makes a cursor for a word with blocks. */
export function cursorAtBlock(slab: Slab, first: number, count: number): Cursor {
  return new BlockCursor(slab, first, count);
}

class BlockCursor implements Cursor {
  page: Uint32Array;
  at: number;
  end: number;
  /** Number of postings up to the end of this block. */
  #seen: number;

  constructor(
    private readonly slab: Slab,
    first: number,
    private readonly count: number,
  ) {
    this.page = slab.pageOf(first);
    this.at = slab.offsetOf(first);
    this.#seen = Math.min(count, blockAfter(0));
    this.end = this.at + this.#seen;
  }

  advance(): boolean {
    if (this.#seen === this.count) return false;
    const next = this.page[this.end] as number;
    const length = Math.min(blockAfter(this.#seen), this.count - this.#seen);
    this.#seen += length;
    this.page = this.slab.pageOf(next);
    this.at = this.slab.offsetOf(next);
    this.end = this.at + length;
    return true;
  }
}

/** Goes to a memory's posting; answers the posting, or -1 if the word has none there. */
export function seek(cursor: Cursor, memory: number): number {
  while (memoryOf(cursor.page[cursor.end - 1] as number) < memory) {
    if (!cursor.advance()) return -1;
  }
  let [low, high] = [cursor.at, cursor.end];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (memoryOf(cursor.page[middle] as number) < memory) low = middle + 1;
    else high = middle;
  }
  cursor.at = low;
  const posting = cursor.page[low] as number;
  return memoryOf(posting) === memory ? posting : -1;
}
