import type { FlatArrays } from "../flat.js";
import { Bits } from "../rows/bits.js";
import { lowerBound } from "../rows/lower-bound.js";
import type { Overwriting } from "../segment-file.js";

/**
 * Number of vectors of one memory for which a key has room; `TEXT_WINDOWS_MAX` in the domain is the actual
 * limit.
 */
export const VECTORS_MAX = 4096;

/** Makes a vector's key from the memory's log number and the vector's index among the memory's. */
export function keyOf(sequence: number, window: number): number {
  return sequence * VECTORS_MAX + window;
}

/** Divides a key, which is exact up to 2^41 entries of a log. */
export function parseKey(key: number): { sequence: number; window: number } {
  const window = key % VECTORS_MAX;
  return { sequence: (key - window) / VECTORS_MAX, window };
}

/** Keys of vectors in order, and the slot of each in a graph's file. */
export interface KeySlots {
  readonly keys: Float64Array;
  readonly slots: Uint32Array;
}

/** The arrays of a segment's file. */
export type SegmentArrays = FlatArrays &
  KeySlots & {
    /** Bits of the vectors that were not removed, in the order of their keys. */
    readonly live: Uint32Array;
    /** Checksum of each slot's row in the graph's file. */
    readonly sums: Uint32Array;
  };

/** Finds all vectors of some memories, whose numbers are in order: their positions among the keys, which are in order too. */
export function positionsOf(keys: Float64Array, sequences: Float64Array): Uint32Array {
  let positions = new Uint32Array(sequences.length);
  let [count, at, last] = [0, 0, 0];
  for (const sequence of sequences) {
    const from = keyOf(sequence, 0);
    // Where all have one vector and none is missing, they are as far apart as their numbers.
    const near = at + sequence - last - 1;
    if (keys[near] === from) at = near;
    else if (at < keys.length && (keys[at] as number) < from) at = firstFrom(keys, from, at);
    last = sequence;
    for (; at < keys.length && (keys[at] as number) < from + VECTORS_MAX; at++) {
      // Most memories have one vector.
      if (count === positions.length) positions = longer(positions);
      positions[count++] = at;
    }
  }
  return positions.subarray(0, count);
}

function longer(positions: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const copy = new Uint32Array(2 * positions.length + 8);
  copy.set(positions);
  return copy;
}

/** Finds the first key that is at least this, from a position on. It is often near. */
function firstFrom(keys: Float64Array, key: number, from: number): number {
  let step = 1;
  while (from + step < keys.length && (keys[from + step] as number) < key) step *= 2;
  return lowerBound(keys, key, { from: from + (step >> 1), to: Math.min(keys.length, from + step + 1) });
}

/**
 * Removes a memory from a segment's arrays, and notes what is to be overwritten; lists the positions of its vectors. Those
 * of a removed memory are noted again: a process may have died before it had overwritten them in the graph's file.
 */
export function removeFrom(
  arrays: SegmentArrays,
  sequence: number,
  { ranges, rows }: Overwriting,
): readonly number[] {
  const { keys, slots, live } = arrays;
  const bits = new Bits(keys.length, live);
  const positions: number[] = [];
  for (const position of positionsOf(keys, Float64Array.of(sequence))) {
    rows.push(slots[position] as number);
    if (!bits.has(position)) continue;
    positions.push(position);
    bits.remove(position);
    ranges.push({ array: live, from: position >>> 5, to: (position >>> 5) + 1 });
  }
  return positions;
}
