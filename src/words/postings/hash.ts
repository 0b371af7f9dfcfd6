/**
 * Identity of a word in an index: 48 bits. A query's word is taken for another word with odds of one in
 * 280 million when the namespace has a million different words; both then count as one.
 */
export interface WordHash {
  /** 32 bits. */
  readonly low: number;
  /** 16 bits. */
  readonly high: number;
}

const LOW_SEED = 0x811c9dc5;
const HIGH_SEED = 0x2f0b4a47;
const FNV_PRIME = 0x01000193;

export function hashOf(word: string): WordHash {
  return { low: mixed(word, LOW_SEED), high: mixed(word, HIGH_SEED) >>> 16 };
}

/** Hashes by FNV-1a, and finishes as MurmurHash3 does, so that every bit depends on every other. */
function mixed(word: string, seed: number): number {
  let hash = seed;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), FNV_PRIME);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
