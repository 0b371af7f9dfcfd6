import type { FlatArrays, MergeInput, Overwritten } from "../flat.js";
import { lowerBound } from "../rows/lower-bound.js";
import { findPosting, type Places, removePosting } from "../rows/postings.js";
import { type WordArrays, wordArraysOf } from "./arrays.js";
import { buildArrays } from "./build.js";
import { mergeArrays } from "./merge.js";
import type { RowWords } from "./row-words.js";

/** Approximate bytes of the objects that hold a part's arrays. */
const OBJECT_BYTES = 2048;

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

  /** @throws Error if these are not the arrays of a part */
  constructor(arrays: FlatArrays) {
    this.arrays = wordArraysOf(arrays);
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
    const merging = inputs.map(({ part, newRowOf }) => ({ arrays: part.arrays, newRowOf }));
    return new WordPart(yield* mergeArrays(merging, rows));
  }

  /** Number of a word; -1 if no row has it. */
  find(hash: number): number {
    const { hashes, counts } = this.arrays;
    // Of equal entries, the first is the living one: see `#forget`.
    const word = lowerBound(hashes, hash);
    return hashes[word] === hash && (counts[word] as number) > 0 ? word : -1;
  }

  /** Place of a row's posting in the list of a word; -1 if the row does not have the word. */
  findPosting(word: number, row: number): number {
    return findPosting(this.arrays.postings, row, this.placesOf(word));
  }

  /** Places of a word's postings, those of removed rows included. */
  placesOf(word: number): Places {
    const { offsets } = this.arrays;
    return { from: offsets[word] as number, to: offsets[word + 1] as number };
  }

  /** Overwrites all that is known of a row. A removed row may be removed again. */
  remove(row: number, overwritten: Overwritten): void {
    const { forwardOffsets, forward, lengths } = this.arrays;
    this.changes++;
    const from = forwardOffsets[row] as number;
    const to = forwardOffsets[row + 1] as number;
    for (let at = from; at < to; at++) this.#removePosting(forward[at] as number, row, overwritten);
    forward.fill(0, from, to);
    if (from < to) overwritten(forward, from, to);
    this.lengthSum -= lengths[row] as number;
    lengths[row] = 0;
    overwritten(lengths, row, row + 1);
  }

  #removePosting(word: number, row: number, overwritten: Overwritten): void {
    const { counts, postings } = this.arrays;
    const place = this.findPosting(word, row);
    // The zeros of a removed row stand for the first word.
    if (place < 0) return;
    const { from, to } = removePosting(postings, place, this.placesOf(word));
    const count = (counts[word] as number) - 1;
    counts[word] = count;
    overwritten(postings, from, to);
    overwritten(counts, word, word + 1);
    if (count === 0) this.#forget(word, overwritten);
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
