/** Returns ranks from 1. Equal values share the mean of their ranks. */
export function ranks(values: readonly number[]): Float64Array {
  const order = Array.from(values.keys()).sort((a, b) => (values[a] as number) - (values[b] as number));
  const result = new Float64Array(values.length);
  for (let from = 0; from < order.length; ) {
    let to = from + 1;
    while (to < order.length && values[order[to] as number] === values[order[from] as number]) to++;
    for (let i = from; i < to; i++) result[order[i] as number] = (from + 1 + to) / 2;
    from = to;
  }
  return result;
}

/**
 * Spearman's rank correlation, computed as Pearson's of the ranks so that ties are right. NaN if one side is
 * constant.
 */
export function spearman(a: readonly number[], b: readonly number[]): number {
  return pearson(ranks(a), ranks(b));
}

/**
 * Chance that one of `higher` is above one of `lower`, where equal values count half (area under the ROC
 * curve).
 */
export function areaUnderCurve(higher: readonly number[], lower: readonly number[]): number {
  const all = ranks([...higher, ...lower]);
  const sum = all.subarray(0, higher.length).reduce((total, rank) => total + rank, 0);
  return (sum - (higher.length * (higher.length + 1)) / 2) / (higher.length * lower.length);
}

function pearson(a: Float64Array, b: Float64Array): number {
  const meanA = a.reduce((sum, x) => sum + x, 0) / a.length;
  const meanB = b.reduce((sum, x) => sum + x, 0) / b.length;
  let [ab, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [(a[i] as number) - meanA, (b[i] as number) - meanB];
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return ab / Math.sqrt(aa * bb);
}
