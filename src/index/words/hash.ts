const LOW_SEED = 0x811c9dc5;
const HIGH_SEED = 0x2f0b4a47;
const FNV_PRIME = 0x01000193;

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
