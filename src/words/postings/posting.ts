/** A posting has 32 bits: 27 for the memory's number, and 5 for the place of its weight in `WEIGHTS`. */
const WEIGHT_BITS = 5;
const WEIGHT_MASK = (1 << WEIGHT_BITS) - 1;

/** Maximum number of postings in a block. */
const BLOCK_MAX = 1024;

export const postingOf = (memory: number, weightPlace: number): number =>
  ((memory << WEIGHT_BITS) | weightPlace) >>> 0;

export const memoryOf = (posting: number): number => posting >>> WEIGHT_BITS;

export const weightPlaceOf = (posting: number): number => posting & WEIGHT_MASK;

/**
 * Number of postings in the block that follows this many of the same word. It is half as many, so that little
 * room is unused. The place of the next block stands behind them.
 */
export function blockAfter(count: number): number {
  return Math.min(BLOCK_MAX, Math.max(2, count >>> 1));
}
