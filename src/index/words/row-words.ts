import { toEnd } from "../../concurrency/time-slices.js";
import { hashOf } from "./hash.js";
import { wordsIn } from "./text/words-in.js";
import { weightIndexOf } from "./weights.js";

/** Maximum length of a text in words that is kept; no text of 64 KiB has more. */
const LENGTH_MAX = 65_535;

/** The words of one text, ready to be indexed: ascending by their hashes, each only once. */
export interface RowWords {
  /** Number of words, with repetitions. */
  readonly length: number;
  readonly hashes: Float64Array;
  /** Place in `WEIGHTS` of each word's weight. */
  readonly weights: Uint8Array;
}

/** Reads the words of a memory's text. The worst text of 64 KiB takes 32 ms. */
export function rowWordsOf(text: string): RowWords {
  const { counts, length } = toEnd(wordsIn(text, "memory"));
  const timesOf = new Map<number, number>();
  for (const [word, { times, inIdentifiers }] of counts) {
    const hash = hashOf(word);
    timesOf.set(hash, (timesOf.get(hash) ?? 0) + times + inIdentifiers);
  }
  const hashes = Float64Array.from([...timesOf.keys()]).sort();
  const weights = new Uint8Array(hashes.length);
  for (let i = 0; i < hashes.length; i++) {
    weights[i] = weightIndexOf(timesOf.get(hashes[i] as number) as number);
  }
  return { length: Math.min(LENGTH_MAX, length), hashes, weights };
}
