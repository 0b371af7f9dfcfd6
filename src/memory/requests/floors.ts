import { invalid } from "../../errors.js";

/** Highest fit: the same text, with all words of the query. */
const FIT_MAX = 1.5;

/** Score that any text has at least for itself: 1 but for the rounding of vectors, whose numbers are float32. */
const SAME_TEXT = 1 - 1e-6;

/** Parses the lowest score of results: 0–1; undefined leaves none out. 1 leaves the same text. */
export function parseMinScore(value: number | undefined): number | undefined {
  return atLeastOfScores("min_score", value);
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
  return atLeastOfScores("similar_above", value);
}

function atLeastOfScores(field: string, value: number | undefined): number | undefined {
  const floor = atLeast(field, value, 1);
  return floor === undefined ? undefined : Math.min(floor, SAME_TEXT);
}
