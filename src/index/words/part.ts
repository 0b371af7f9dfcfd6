import { runToEnd } from "../../concurrency/time-slices.js";
import { asInputs, type FlatArrays, type Overwritten } from "../flat.js";
import { removeRow } from "../rows/inverted.js";
import { lowerBound } from "../rows/lower-bound.js";
import type { Memories } from "../rows/memories.js";
import { mergeWords, type WordArrays, type WordLists } from "./merge.js";

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

  /** Builds a part of a few rows at once. */
  static build(rows: readonly WordLists[]): WordPart {
    return new WordPart(runToEnd(mergeWords(asInputs(rows), rows.length)));
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
