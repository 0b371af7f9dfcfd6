/** Places that a key has for the vectors of one memory; `TEXT_WINDOWS_MAX` in the room says how many there may be. */
export const VECTORS_MAX = 4096;

const WINDOW_BITS = 12n;
const WINDOW_MASK = BigInt(VECTORS_MAX - 1);

/** Keys from here on stand for nothing: no memory's key reaches them. */
export const BLANK_KEYS_FROM = 2n ** 63n;

/** A vector's key in a graph: the memory's log number, and the vector's place among the memory's. */
export function keyOf(sequence: number, window: number): bigint {
  return (BigInt(sequence) << WINDOW_BITS) | BigInt(window);
}

export function placeOf(key: bigint): { sequence: number; window: number } {
  return { sequence: Number(key >> WINDOW_BITS), window: Number(key & WINDOW_MASK) };
}
