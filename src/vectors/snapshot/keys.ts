/**
 * Number of vectors of one memory for which a key has room; `TEXT_WINDOWS_MAX` in the room is the actual
 * limit.
 */
export const VECTORS_MAX = 4096;

const WINDOW_BITS = 12n;
const WINDOW_MASK = BigInt(VECTORS_MAX - 1);

/** Makes a vector's key in a graph from the memory's log number and the vector's index among the memory's. */
export function keyOf(sequence: number, window: number): bigint {
  return (BigInt(sequence) << WINDOW_BITS) | BigInt(window);
}

export function placeOf(key: bigint): { sequence: number; window: number } {
  return { sequence: Number(key >> WINDOW_BITS), window: Number(key & WINDOW_MASK) };
}
