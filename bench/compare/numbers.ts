export function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** Writes three digits, which is more than the rounds agree on. */
export function number(value = Number.NaN): string {
  return value >= 100 ? count(Math.round(value)) : value.toPrecision(value < 1 ? 2 : 3);
}
