import type { Flat, FlatArrays } from "../flat.js";

/** The arrays of a `WordPart`. Its words are numbered in the order of their hashes, its rows as in the segment. */
export type WordArrays = {
  /** Hash of each word, ascending. The entry of a word that no living row has repeats the hash before it. */
  readonly hashes: Float64Array;
  /** Place of each word's first posting, and the number of places. */
  readonly offsets: Uint32Array;
  /** Number of living rows that have each word. */
  readonly counts: Uint32Array;
  /** Rows that have a word, ascending, and of each the place in `WEIGHTS` of the word's weight (`rows/postings.ts`). */
  readonly postings: Uint32Array;
  /** Place of each row's first word in `forward`, and the number of places. */
  readonly forwardOffsets: Uint32Array;
  /** Numbers of the words of a row, ascending; zeros for a removed row. */
  readonly forward: Uint32Array;
  /** Number of words of each row's text, with repetitions. */
  readonly lengths: Uint16Array;
};

/** Checks that arrays, of a file for instance, are those of a part. Throws an `Error` if not. */
export function wordArraysOf(arrays: FlatArrays): WordArrays {
  const checked = {
    hashes: arrayOf(arrays.hashes, Float64Array),
    offsets: arrayOf(arrays.offsets, Uint32Array),
    counts: arrayOf(arrays.counts, Uint32Array),
    postings: arrayOf(arrays.postings, Uint32Array),
    forwardOffsets: arrayOf(arrays.forwardOffsets, Uint32Array),
    forward: arrayOf(arrays.forward, Uint32Array),
    lengths: arrayOf(arrays.lengths, Uint16Array),
  };
  const { hashes, offsets, counts, postings, forwardOffsets, forward, lengths } = checked;
  const isWhole =
    [counts.length, offsets.length - 1].every((length) => length === hashes.length) &&
    [forward.length, offsets[hashes.length]].every((length) => length === postings.length) &&
    forwardOffsets.length === lengths.length + 1 &&
    forwardOffsets[lengths.length] === forward.length;
  if (!isWhole) throw new Error("the arrays of the words do not belong together");
  return checked;
}

function arrayOf<A extends Flat>(array: Flat | undefined, type: new (length: number) => A): A {
  if (array instanceof type) return array;
  throw new Error("an array of the words is missing or of another type");
}

/** What is made first of a part; the rest follows from it. */
export type Inverted = Omit<WordArrays, "forwardOffsets" | "forward" | "lengths">;
