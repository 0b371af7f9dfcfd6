/** Lower bound: index of the first of some ascending numbers, from `from` to before `to`, that is >= `least`. */
export function lowerBound(
  numbers: Uint32Array | Float64Array,
  least: number,
  from = 0,
  to = numbers.length,
): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] as number) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
