import { lowerBound } from "../rows/lower-bound.js";
import type { WordArrays } from "./arrays.js";
import { hashesOf } from "./hash.js";
import type { RowWords } from "./row-words.js";

/** Builds the arrays of a part from some rows. */
export function buildArrays(rows: readonly RowWords[]): WordArrays {
  const forwardOffsets = new Uint32Array(rows.length + 1);
  for (const [row, { low }] of rows.entries()) {
    forwardOffsets[row + 1] = (forwardOffsets[row] as number) + low.length;
  }
  const keys = new Float64Array(forwardOffsets[rows.length] as number);
  let next = 0;
  for (const { low, high } of rows) {
    for (let i = 0; i < low.length; i++) keys[next++] = (high[i] as number) * 2 ** 32 + (low[i] as number);
  }
  const distinct = distinctOf(keys);
  const all = { from: 0, to: distinct.length };
  const forward = new Uint32Array(keys.length);
  for (let i = 0; i < keys.length; i++) forward[i] = lowerBound(distinct, keys[i] as number, all);
  return {
    ...hashesOf(distinct),
    ...inverted(rows, { words: distinct.length, forward }),
    forwardOffsets,
    forward,
    lengths: Uint16Array.from(rows, ({ length }) => length),
  };
}

/** Sorts keys, and leaves out repetitions. */
function distinctOf(keys: Float64Array): Float64Array {
  const sorted = keys.toSorted();
  let count = 0;
  for (const key of sorted) if (count === 0 || sorted[count - 1] !== key) sorted[count++] = key;
  return sorted.slice(0, count);
}

/** Lists the rows of each word. */
function inverted(
  rows: readonly RowWords[],
  { words, forward }: { readonly words: number; readonly forward: Uint32Array },
): Pick<WordArrays, "offsets" | "counts" | "postings" | "weights"> {
  const counts = new Uint32Array(words);
  for (const word of forward) counts[word] = (counts[word] as number) + 1;
  const offsets = new Uint32Array(words + 1);
  for (let word = 0; word < words; word++) {
    offsets[word + 1] = (offsets[word] as number) + (counts[word] as number);
  }
  const next = offsets.slice();
  const postings = new Uint32Array(forward.length);
  const weights = new Uint8Array(forward.length);
  let at = 0;
  for (const [row, each] of rows.entries()) {
    for (const weight of each.weights) {
      const word = forward[at++] as number;
      const place = next[word] as number;
      next[word] = place + 1;
      postings[place] = row;
      weights[place] = weight;
    }
  }
  return { offsets, counts, postings, weights };
}
