/**
 * Weights that a posting can have: the number of times that the text has the word, exact up to 16 and rounded
 * down beyond, and at last that of a removed row. A posting keeps the place in this list, so another list, such as a
 * learned one, needs no other format.
 */
export const WEIGHTS = Float64Array.of(
  ...Array.from({ length: 16 }, (_, i) => i + 1),
  ...[20, 24, 28, 32, 40, 48, 64, 80, 96, 128, 192, 256, 512, 1024, 4096, 16_384],
  0,
);
/** Place of the weight of a removed row: a search adds nothing for it. */
export const NO_WEIGHT = WEIGHTS.length - 1;

/** Returns the place of the largest weight that is not above a number of times, which is at least 1. */
export function weightIndexOf(times: number): number {
  return times <= 16 ? times - 1 : WEIGHTS.subarray(0, NO_WEIGHT).findLastIndex((weight) => weight <= times);
}
