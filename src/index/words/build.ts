import { postingOf } from "../rows/inverted.js";
import { lowerBound } from "../rows/lower-bound.js";
import type { WordArrays } from "./merge.js";
import type { RowWords } from "./row-words.js";

/** Builds the arrays of a part from some rows. */
export function buildArrays(rows: readonly RowWords[]): WordArrays {
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
