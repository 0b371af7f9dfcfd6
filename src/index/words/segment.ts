import type { Bits } from "../rows/bits.js";
import type { WordPart } from "./part.js";

/** A segment as its words are searched. A row's living bit is cleared when it is removed from the words. */
export interface WordSegment {
  /** Log number of each row, ascending. */
  readonly sequences: Float64Array;
  readonly live: Bits;
  /** Number of living rows. */
  readonly living: number;
  readonly words: WordPart;
}
