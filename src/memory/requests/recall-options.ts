import { invalid, parseWhole } from "../../errors.js";
import { suggestion } from "../../suggest.js";
import { parseTimeOfYears } from "./times.js";

export const TOP_K_DEFAULT = 5;
/** Maximum number of results unless the operator allows more, and the most that one can allow. */
export const TOP_K_MAX = 20;
export const TOP_K_CEILING = 200;

/** Parses the number of results: 1 to `max`, default 5. */
export function parseTopK(value = TOP_K_DEFAULT, max = TOP_K_MAX): number {
  return parseWhole("top_k", value, [1, max]);
}

/** The highest int32 of the contract. */
const TOKENS_MAX = 2_147_483_647;

/** Parses the number of tokens that an answer may have; undefined means any. */
export function parseMaxTokens(value: number | undefined): number | undefined {
  return value === undefined ? undefined : parseWhole("max_tokens", value, [1, TOKENS_MAX]);
}

/** Highest fit: the same text, with all words of the query. */
const FIT_MAX = 1.5;

/** Score that any text has at least for itself: 1 but for the rounding of vectors, whose numbers are float32. */
const SAME_TEXT = 1 - 1e-6;

/** Parses the lowest score of memories: 0–1; undefined if any will do. 1 leaves the same text. */
export function parseLowestScore(field: string, value: number | undefined): number | undefined {
  const floor = withinMax(field, value, 1);
  return floor === undefined ? undefined : Math.min(floor, SAME_TEXT);
}

/** Parses the lowest fit of results: 0–1.5; undefined leaves none out. Only an order by words has a fit. */
export function parseMinFit(value: number | undefined, mode: "cosine" | "hybrid"): number | undefined {
  if (value !== undefined && mode !== "hybrid") {
    throw invalid("min_fit", "needs the mode HYBRID; with COSINE there is min_score");
  }
  return withinMax("min_fit", value, FIT_MAX);
}

function withinMax(field: string, value: number | undefined, max: number): number | undefined {
  if (value === undefined || (value >= 0 && value <= max)) return value;
  throw invalid(field, `is ${value}; it must be a number from 0 to ${max}`);
}

/** Fields of a recalled memory, as the contract names them. */
const RESULT_FIELDS = [
  ...(["id", "text", "score", "metadata", "created_at"] as const),
  ...(["match", "words", "explanation"] as const),
  ...(["etag", "updated_at", "external_id", "superseded_by", "expire_time", "event_time"] as const),
  ...(["before", "after", "namespace", "query_index"] as const),
] as const;

export type ResultField = (typeof RESULT_FIELDS)[number];

/** Parses the fields that results are answered with; undefined means all. `id` is always among them. */
export function parseFields(paths: readonly string[] | undefined): ReadonlySet<ResultField> | undefined {
  if (paths === undefined) return undefined;
  if (paths.length === 0) throw invalid("fields", "names no field; leave it out for all");
  const fields = paths.map((path) => {
    const field = RESULT_FIELDS.find((each) => each === path);
    if (field !== undefined) return field;
    const meant = suggestion(path, RESULT_FIELDS);
    throw invalid("fields", `has a path that is none of ${RESULT_FIELDS.join(", ")}${meant}`);
  });
  return new Set(["id", ...fields]);
}

/** Highest weight: half of what the nearest memory can have by its meaning. */
const WEIGHT_MAX = 0.5;

/** How much the age of memories counts. */
export interface Recency {
  /** Time in which what is added falls to a half. */
  readonly halfLifeMs: number;
  /** What is added for the age 0. */
  readonly weight: number;
  /** Time at which the age is 0, in milliseconds since 1970. */
  readonly referenceAtMs: number;
}

/** The same as a caller asks for it. The time is now if left out. */
export type RecencyRequest = { readonly [F in keyof Recency]: Recency[F] | undefined };

/** Parses how much the age of memories counts; undefined if it does not. */
export function parseRecency(asked: RecencyRequest | undefined, nowMs: number): Recency | undefined {
  if (asked === undefined) return undefined;
  const { halfLifeMs, weight } = asked;
  if (halfLifeMs === undefined) throw invalid("recency.half_life", "is missing");
  if (!(halfLifeMs > 0)) throw invalid("recency.half_life", "is not positive");
  if (weight === undefined) throw invalid("recency.weight", "is missing");
  withinMax("recency.weight", weight, WEIGHT_MAX);
  const referenceAtMs = parseTimeOfYears("recency.reference_time", asked.referenceAtMs) ?? nowMs;
  return { halfLifeMs, weight, referenceAtMs };
}
