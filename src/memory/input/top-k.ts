import { invalid } from "../../errors.js";

export const TOP_K_DEFAULT = 5;
export const TOP_K_MAX = 20;

/** Parses the number of results: 1–20, default 5. */
export function parseTopK(value: number | undefined): number {
  if (value === undefined) return TOP_K_DEFAULT;
  if (!Number.isInteger(value) || value < 1 || value > TOP_K_MAX) {
    throw invalid("top_k", `is ${value}; it must be a whole number from 1 to ${TOP_K_MAX}`);
  }
  return value;
}
