import { Damage } from "./pages.js";

const NUMBER_BYTES = 8;

/**
 * Yields the free pages in a record, which has a count of numbers and then the numbers. A negative
 * number is the length of the block that the next one begins; 0 is an unused place. (`midl.c` of
 * lmdb-js.)
 */
export function* freeIn(list: Buffer): Generator<{ page: number; count: number }> {
  const count = list.byteLength < NUMBER_BYTES ? -1 : Number(list.readBigInt64LE());
  if (count < 0 || (count + 1) * NUMBER_BYTES > list.byteLength) {
    throw new Damage("its list of free pages is damaged");
  }
  let block = 1;
  for (let i = 1; i <= count; i++) {
    const number = Number(list.readBigInt64LE(i * NUMBER_BYTES));
    if (number > 0) yield { page: number, count: block };
    block = number < 0 ? -number : 1;
  }
}
