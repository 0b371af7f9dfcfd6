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

/** Hashes a word. None has the hash 0, which a dictionary gives to dead words before the first living one. */
export function hashOf(word: string): WordHash {
  const low = mixed(word, LOW_SEED);
  const high = mixed(word, HIGH_SEED) >>> 16;
  return { low: low === 0 && high === 0 ? 1 : low, high };
}

/** The hash as one number, by which dictionaries are sorted. */
export function keyOf({ low, high }: WordHash): number {
  return high * 2 ** 32 + low;
}

/** Divides keys into the two arrays of their hashes. */
export function hashesOf(keys: Float64Array): { low: Uint32Array; high: Uint16Array } {
  const low = new Uint32Array(keys.length);
  const high = new Uint16Array(keys.length);
  for (let i = 0; i < keys.length; i++) {
    low[i] = (keys[i] as number) % 2 ** 32;
    high[i] = Math.floor((keys[i] as number) / 2 ** 32);
  }
  return { low, high };
}

/** Hashes by FNV-1a, and finishes as MurmurHash3 does, so that every bit depends on every other. */
function mixed(word: string, seed: number): number {
  let hash = seed;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), FNV_PRIME);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
