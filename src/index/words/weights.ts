import { REMOVED } from "../rows/inverted.js";

/**
 * Weights that a posting can have: the number of times that the text has the word, exact up to 16 and rounded
 * down beyond. A posting keeps the place in this list, so another list, such as a learned one, needs no other
 * format. A removed row has the weight 0, so that a search adds nothing for it.
 */
export const WEIGHTS = new Float64Array(REMOVED + 1);
const GIVEN = Array.from({ length: 16 }, (_, i) => i + 1);
GIVEN.push(20, 24, 28, 32, 40, 48, 64, 80, 96, 128, 192, 256, 512, 1024, 4096, 16_384);
WEIGHTS.set(GIVEN);

/** Returns the place of the largest weight that is not above a number of times, which is at least 1. */
export function weightIndexOf(times: number): number {
  return times <= 16 ? times - 1 : GIVEN.findLastIndex((weight) => weight <= times);
}
