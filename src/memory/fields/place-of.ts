/** Finds the place of the first of some ascending numbers that is at least this one. `end` is how many they are. */
export function placeOf(numbers: Uint32Array | Float64Array, least: number, end: number): number {
  let [low, high] = [0, end];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] as number) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
