import type { Estimate } from "./bootstrap.js";

/** Number that may be NaN. JSON has no NaN, so it comes back as null. */
type Maybe = number | null | undefined;

const NONE = "–";

export function share(value: Maybe): string {
  return isNumber(value) ? value.toFixed(3) : NONE;
}

export function percent(value: Maybe): string {
  return isNumber(value) ? `${Math.round(value * 100)} %` : NONE;
}

export function rating(value: Maybe): string {
  return isNumber(value) ? value.toFixed(1) : NONE;
}

export function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** Writes a figure with its interval, such as `0.489 (0.462 to 0.515)`. */
export function interval(estimate: Estimate | undefined, digits = 3): string {
  if (!isNumber(estimate?.value)) return NONE;
  const { value, low, high } = estimate;
  return `${value.toFixed(digits)} (${low.toFixed(digits)} to ${high.toFixed(digits)})`;
}

/** Writes a share with its interval, in whole percent. */
export function percentInterval(estimate: Estimate | undefined): string {
  if (!isNumber(estimate?.value)) return NONE;
  return `${percent(estimate.value)} (${Math.round(estimate.low * 100)} to ${Math.round(estimate.high * 100)})`;
}

/** Writes a difference with its sign, in bold if zero is outside of the interval, so that the two differ. */
export function difference(estimate: Estimate | undefined): string {
  if (!isNumber(estimate?.value)) return NONE;
  const { value, low, high } = estimate;
  const text = `${signed(value)} (${signed(low)} to ${signed(high)})`;
  return isKnown(estimate) ? `**${text}**` : text;
}

/** True if the interval of a difference excludes zero. */
export function isKnown(difference: Estimate | undefined): boolean {
  return difference !== undefined && (difference.low > 0 || difference.high < 0);
}

function signed(value: number): string {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;
}

function isNumber(value: Maybe): value is number {
  return typeof value === "number" && !Number.isNaN(value);
}
