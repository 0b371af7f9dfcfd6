import type { FlatArrays, MergeInput, Overwritten } from "../flat.js";
import type { Bits } from "../rows/bits.js";
import { removeRow } from "../rows/inverted.js";
import { lowerBound } from "../rows/lower-bound.js";
import { buildArrays } from "./build.js";
import { mergeArrays, type WordArrays } from "./merge.js";
import type { RowWords } from "./row-words.js";

/** Approximate bytes of the objects that hold a part's arrays. */
const OBJECT_BYTES = 2048;

/** A segment as its words are searched. A row's living bit is cleared when it is removed from the words. */
export interface WordSegment {
  /** Log number of each row, ascending. */
  readonly sequences: Float64Array;
  readonly live: Bits;
  /** Number of living rows. */
  readonly living: number;
  readonly words: WordPart;
}

/** The words of a segment: an inverted index of its rows, which changes only by their removal. */
export class WordPart {
  readonly arrays: WordArrays;
  /** Number of rows, removed ones included. */
  readonly rows: number;
  readonly bytes: number;
  /** Number of words of all living rows, with repetitions. */
  lengthSum = 0;
  /** Number of removals: a change tells a search that something it found may be gone. */
  changes = 0;

  /** @param arrays those of a part, as they were or read from files */
  constructor(arrays: FlatArrays) {
    this.arrays = arrays as WordArrays;
    this.rows = this.arrays.lengths.length;
    this.bytes = Object.values(this.arrays).reduce((sum, each) => sum + each.byteLength, OBJECT_BYTES);
    for (const length of this.arrays.lengths) this.lengthSum += length;
  }

  static of(rows: readonly RowWords[]): WordPart {
    return new WordPart(buildArrays(rows));
  }

  /**
   * Merges parts into one with this number of rows. Rows that are removed from an input meanwhile may be in the
   * result, wholly or in part, and must be removed there, too.
   */
  static *merged(inputs: readonly MergeInput<WordPart>[], rows: number): Generator<void, WordPart> {
    const merging = inputs.map(({ part, newRowOf }) => ({ part: part.arrays, newRowOf }));
    return new WordPart(yield* mergeArrays(merging, rows));
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
    this.changes++;
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
