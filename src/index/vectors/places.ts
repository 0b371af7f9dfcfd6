import { FREE_KEY, VECTORS_MAX } from "./keys.js";

/** Keys of vectors in order, and the slot of each in a graph's file. */
export interface Places {
  readonly keys: Float64Array;
  readonly slots: Uint32Array;
}

/** Orders the keys of a graph's slots, without free ones. */
export function placesIn(keyOfSlot: BigUint64Array): Places {
  const numbers = Float64Array.from(keyOfSlot, Number);
  const slots = Uint32Array.from(numbers.keys())
    .filter((slot) => keyOfSlot[slot] !== FREE_KEY)
    .sort((a, b) => (numbers[a] as number) - (numbers[b] as number));
  return { keys: Float64Array.from(slots, (slot) => numbers[slot] as number), slots };
}

/** Finds all vectors of some memories, whose numbers are in order: their places among the keys. */
export function placesOf(keys: Float64Array, sequences: Float64Array): Uint32Array {
  let places = new Uint32Array(sequences.length);
  let [count, at, last] = [0, 0, 0];
  for (const sequence of sequences) {
    const from = sequence * VECTORS_MAX;
    // Where all have one vector and none is missing, they are as far apart as their numbers.
    const near = at + sequence - last - 1;
    if (keys[near] === from) at = near;
    else if (at < keys.length && (keys[at] as number) < from) at = firstFrom(keys, from, at);
    last = sequence;
    for (; at < keys.length && (keys[at] as number) < from + VECTORS_MAX; at++) {
      // Most memories have one vector.
      if (count === places.length) places = longer(places);
      places[count++] = at;
    }
  }
  return places.subarray(0, count);
}

function longer(places: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const copy = new Uint32Array(2 * places.length + 8);
  copy.set(places);
  return copy;
}

/** Finds the first key that is at least this, from a place on. It is often near. */
export function firstFrom(keys: Float64Array, key: number, from: number): number {
  let step = 1;
  while (from + step < keys.length && (keys[from + step] as number) < key) step *= 2;
  let [low, high] = [from + (step >> 1), Math.min(keys.length, from + step + 1)];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as number) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
