/** Places, rows or nodes from one to before another. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * Lower bound: index of the first value >= `least` among ascending ones from `from` to before `to`, which are all when
 * left out; else `to`.
 */
export function lowerBound(
  values: Uint32Array | Float64Array,
  least: number,
  { from = 0, to = values.length }: Partial<Range> = {},
): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] as number) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
