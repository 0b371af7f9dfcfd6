/** Adds numbers up. */
export function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

/** Writes a number with commas: `10,000`. */
export function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** Writes a duration with one digit after the point: `1.5 s`. */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
