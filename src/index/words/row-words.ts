import { toEnd } from "../../concurrency/time-slices.js";
import { weightIndexOf } from "./scoring.js";
import { wordsIn } from "./words-in.js";

/** Maximum length of a text in words that is kept; no text of 64 KiB has more. */
const LENGTH_MAX = 65_535;

const LOW_SEED = 0x811c9dc5;
const HIGH_SEED = 0x2f0b4a47;
const FNV_PRIME = 0x01000193;

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

/**
 * Identity of a word in an index: 48 bits. A query's word is taken for another word with odds of one in
 * 280 million when the namespace has a million different words; both then count as one. None has the hash 0, which a
 * dictionary gives to dead words before the first living one.
 */
export function hashOf(word: string): number {
  return (mixed(word, HIGH_SEED) >>> 16) * 2 ** 32 + mixed(word, LOW_SEED) || 1;
}

/** Hashes by FNV-1a, and finishes as MurmurHash3 does, so that every bit depends on every other. */
function mixed(word: string, seed: number): number {
  let hash = seed;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), FNV_PRIME);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
