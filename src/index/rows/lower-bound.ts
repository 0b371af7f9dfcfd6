/** Index of the first of `end` ascending numbers that is at least `least`; `end` if there is none. */
export function lowerBound(numbers: Uint32Array | Float64Array, least: number, end: number): number {
  let [low, high] = [0, end];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] as number) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
