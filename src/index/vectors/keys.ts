/**
 * Number of vectors of one memory for which a key has room; `TEXT_WINDOWS_MAX` in the domain is the actual
 * limit.
 */
export const VECTORS_MAX = 4096;

/** Makes a vector's key in a graph from the memory's log number and the vector's index among the memory's. */
export function keyOf(sequence: number, window: number): bigint {
  return BigInt(sequence * VECTORS_MAX + window);
}

export function parseKey(key: bigint): { sequence: number; window: number } {
  // Exact up to 2^41 entries of a log.
  const number = Number(key);
  const window = number % VECTORS_MAX;
  return { sequence: (number - window) / VECTORS_MAX, window };
}

/** Key of a slot of a graph's file that nothing holds. */
export const FREE_KEY = 2n ** 64n - 1n;
