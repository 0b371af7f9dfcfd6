import type { Bits } from "./bits.js";
import { lowerBound } from "./lower-bound.js";

/** The memories of a segment. A row's living bit is cleared when it is removed from the segment's parts. */
export interface Memories {
  /** Log number of each row, ascending. */
  readonly sequences: Float64Array;
  readonly live: Bits;
  /** Number of living rows. As it only falls, a change shows a search that something it found may be gone. */
  readonly living: number;
}

/** Row of a memory; -1 if it does not live there. */
export function rowOf({ sequences, live }: Memories, sequence: number): number {
  if (!(sequence >= (sequences[0] as number) && sequence <= (sequences[sequences.length - 1] as number)))
    return -1;
  const row = lowerBound(sequences, sequence);
  return sequences[row] === sequence && live.has(row) ? row : -1;
}
