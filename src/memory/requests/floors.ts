import { invalid } from "../../errors.js";

/** Highest fit: the same text, with all words of the query. */
const FIT_MAX = 1.5;

/** Parses the lowest score of results: 0–1; undefined leaves none out. */
export function parseMinScore(value: number | undefined): number | undefined {
  return atLeast("min_score", value, 1);
}

/** Parses the lowest fit of results: 0–1.5; undefined leaves none out. Only an order by words has a fit. */
export function parseMinFit(value: number | undefined, mode: "cosine" | "hybrid"): number | undefined {
  if (value !== undefined && mode !== "hybrid") {
    throw invalid("min_fit", "needs the mode HYBRID; with COSINE there is min_score");
  }
  return atLeast("min_fit", value, FIT_MAX);
}

function atLeast(field: string, value: number | undefined, max: number): number | undefined {
  if (value === undefined || (value >= 0 && value <= max)) return value;
  throw invalid(field, `is ${value}; it must be a number from 0 to ${max}`);
}

/** Parses the lowest score of similar memories: 0–1; undefined if they are not wanted. */
export function parseSimilarAbove(value: number | undefined): number | undefined {
  if (value === undefined || (value >= 0 && value <= 1)) return value;
  throw invalid("similar_above", `is ${value}; it must be a number from 0 to 1`);
}
