import { invalid } from "../../errors.js";

/** Parses the lowest score of results: 0–1; undefined leaves none out. */
export function parseMinScore(value: number | undefined): number | undefined {
  if (value === undefined || (value >= 0 && value <= 1)) return value;
  throw invalid("min_score", `is ${value}; it must be a number from 0 to 1`);
}
