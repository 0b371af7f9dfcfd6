import type { FlatArrays, Overwritten } from "../flat.js";
import { postingOf, removeRow } from "../rows/inverted.js";
import { lowerBound } from "../rows/lower-bound.js";
import type { Memories } from "../rows/memories.js";
import type { WordArrays } from "./merge.js";
import type { RowWords } from "./row-words.js";

/** Approximate bytes of the objects that hold a part's arrays. */
const OBJECT_BYTES = 2048;

/** A segment as its words are searched. */
export interface WordSegment extends Memories {
  readonly words: WordPart;
}

/** The words of a segment: an inverted index of its rows, which changes only by their removal. */
export class WordPart {
  readonly arrays: WordArrays;
  readonly bytes: number;
  /** Number of words of all living rows, with repetitions. */
  lengthSum = 0;

  /** @param arrays those of a part, as they were or read from files */
  constructor(arrays: FlatArrays) {
    this.arrays = arrays as WordArrays;
    this.bytes = Object.values(this.arrays).reduce((sum, each) => sum + each.byteLength, OBJECT_BYTES);
    for (const length of this.arrays.lengths) this.lengthSum += length;
  }

  static of(rows: readonly RowWords[]): WordPart {
    return new WordPart(buildArrays(rows));
  }

  /** Number of a word; -1 if no row has it. */
  find(hash: number): number {
    const { hashes, counts } = this.arrays;
    // Of equal entries, the first is the living one: see `#forget`.
    const word = lowerBound(hashes, hash);
    return hashes[word] === hash && (counts[word] as number) > 0 ? word : -1;
  }

  /** Overwrites all that is known of a row. A removed row may be removed again. */
  remove(row: number, overwritten: Overwritten): void {
    const { lengths } = this.arrays;
    removeRow(this.arrays, row, { overwritten, died: (word) => this.#forget(word, overwritten) });
    this.lengthSum -= lengths[row] as number;
    lengths[row] = 0;
    overwritten(lengths, row, row + 1);
  }

  /**
   * Overwrites the hash of a word that no row has any more by that of the entry before it, so that the order
   * holds. Entries behind it that died before have its hash, too.
   */
  #forget(word: number, overwritten: Overwritten): void {
    const { hashes } = this.arrays;
    let end = word + 1;
    while (hashes[end] === hashes[word]) end++;
    hashes.fill(word > 0 ? (hashes[word - 1] as number) : 0, word, end);
    overwritten(hashes, word, end);
  }
}

/** Builds the arrays of a part from some rows. */
function buildArrays(rows: readonly RowWords[]): WordArrays {
  const forwardOffsets = new Uint32Array(rows.length + 1);
  for (const [row, each] of rows.entries()) {
    forwardOffsets[row + 1] = (forwardOffsets[row] as number) + each.hashes.length;
  }
  const all = new Float64Array(forwardOffsets[rows.length] as number);
  for (const [row, each] of rows.entries()) all.set(each.hashes, forwardOffsets[row]);
  const hashes = distinctOf(all);
  const range = { from: 0, to: hashes.length };
  const forward = new Uint32Array(all.length);
  for (let i = 0; i < all.length; i++) forward[i] = lowerBound(hashes, all[i] as number, range);
  return {
    hashes,
    ...inverted(rows, { words: hashes.length, forward }),
    forwardOffsets,
    forward,
    lengths: Uint16Array.from(rows, ({ length }) => length),
  };
}

/** Sorts hashes, and leaves out repetitions. */
function distinctOf(hashes: Float64Array): Float64Array {
  const sorted = hashes.toSorted();
  let count = 0;
  for (const hash of sorted) if (count === 0 || sorted[count - 1] !== hash) sorted[count++] = hash;
  return sorted.slice(0, count);
}

/** Lists the rows of each word. */
function inverted(
  rows: readonly RowWords[],
  { words, forward }: { readonly words: number; readonly forward: Uint32Array },
): Pick<WordArrays, "offsets" | "counts" | "postings"> {
  const counts = new Uint32Array(words);
  for (const word of forward) counts[word] = (counts[word] as number) + 1;
  const offsets = new Uint32Array(words + 1);
  for (let word = 0; word < words; word++) {
    offsets[word + 1] = (offsets[word] as number) + (counts[word] as number);
  }
  const next = offsets.slice();
  const postings = new Uint32Array(forward.length);
  let at = 0;
  for (const [row, each] of rows.entries()) {
    for (const weight of each.weights) {
      const word = forward[at++] as number;
      const place = next[word] as number;
      next[word] = place + 1;
      postings[place] = postingOf(row, weight);
    }
  }
  return { offsets, counts, postings };
}
