import { invalid } from "../../errors.js";

/** Parses the lowest score of similar memories: 0–1; undefined if they are not wanted. */
export function parseSimilarAbove(value: number | undefined): number | undefined {
  if (value === undefined || (value >= 0 && value <= 1)) return value;
  throw invalid("similar_above", `is ${value}; it must be a number from 0 to 1`);
}
