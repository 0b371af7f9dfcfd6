import type { WordArrays } from "./arrays.js";
import { lowerBound } from "./lower-bound.js";
import type { RowWords } from "./row-words.js";

/** Builds the arrays of a part from some rows. */
export function buildArrays(rows: readonly RowWords[]): WordArrays {
  const forwardOffsets = new Uint32Array(rows.length + 1);
  for (const [row, { low }] of rows.entries()) {
    forwardOffsets[row + 1] = (forwardOffsets[row] as number) + low.length;
  }
  const keys = new Float64Array(forwardOffsets[rows.length] as number);
  for (const [row, words] of rows.entries()) keys.set(keysOf(words), forwardOffsets[row]);
  const distinct = keys.toSorted().filter((key, i, sorted) => i === 0 || sorted[i - 1] !== key);
  const all = { from: 0, to: distinct.length };
  const forward = Uint32Array.from(keys, (key) => lowerBound(distinct, key, all));
  return {
    low: Uint32Array.from(distinct, (key) => key % 2 ** 32),
    high: Uint16Array.from(distinct, (key) => Math.floor(key / 2 ** 32)),
    ...inverted(rows, { words: distinct.length, forward }),
    forwardOffsets,
    forward,
    lengths: Uint16Array.from(rows, ({ length }) => length),
  };
}

function keysOf({ low, high }: RowWords): Float64Array {
  return Float64Array.from(low, (each, i) => (high[i] as number) * 2 ** 32 + each);
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
