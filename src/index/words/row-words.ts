import { runToEnd } from "../../concurrency/time-slices.js";
import { postingOf } from "../rows/inverted.js";
import type { WordLists } from "./merge.js";
import { weightIndexOf } from "./scoring.js";
import { wordsIn } from "./words-in.js";

/** Maximum length of a text in words that is kept; no text of 64 KiB has more. */
const LENGTH_MAX = 65_535;

const LOW_SEED = 0x811c9dc5;
const HIGH_SEED = 0x2f0b4a47;
const FNV_PRIME = 0x01000193;

/** Reads the words of a memory's text, as a part of one row. The worst text of 64 KiB takes 32 ms. */
export function rowWordsOf(text: string): WordLists {
  const words = runToEnd(wordsIn(text, "memory"));
  const timesOf = new Map<number, number>();
  for (const [word, { times, inIdentifiers }] of words.counts) {
    const hash = hashOf(word);
    timesOf.set(hash, (timesOf.get(hash) ?? 0) + times + inIdentifiers);
  }
  const hashes = Float64Array.from([...timesOf.keys()]).sort();
  const counts = new Uint32Array(hashes.length).fill(1);
  const offsets = new Uint32Array(hashes.length + 1);
  const postings = new Uint32Array(hashes.length);
  for (let i = 0; i < hashes.length; i++) {
    offsets[i + 1] = i + 1;
    postings[i] = postingOf(0, weightIndexOf(timesOf.get(hashes[i] as number) as number));
  }
  return { hashes, counts, offsets, postings, lengths: Uint16Array.of(Math.min(LENGTH_MAX, words.length)) };
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
