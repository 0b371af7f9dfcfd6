import { invalid } from "../../errors.js";
import { parseTimeOfYears } from "./event-time.js";

/** Highest weight: half of what the nearest memory can have by its meaning. */
const WEIGHT_MAX = 0.5;

/** How much the age of memories counts, as a caller asks for it. */
export interface RecencyRequest {
  readonly halfLifeMs: number | undefined;
  readonly weight: number | undefined;
  /** Time at which the age is 0, in milliseconds since 1970; now if left out. */
  readonly referenceAtMs: number | undefined;
}

/** How much the age of memories counts. */
export interface Recency {
  /** Time in which what is added falls to a half. */
  readonly halfLifeMs: number;
  /** What is added for the age 0. */
  readonly weight: number;
  /** Time at which the age is 0, in milliseconds since 1970. */
  readonly referenceAtMs: number;
}

/** Parses how much the age of memories counts; undefined if it does not. */
export function parseRecency(asked: RecencyRequest | undefined, nowMs: number): Recency | undefined {
  if (asked === undefined) return undefined;
  const { halfLifeMs, weight } = asked;
  if (halfLifeMs === undefined) throw invalid("recency.half_life", "is missing");
  if (!(halfLifeMs > 0)) throw invalid("recency.half_life", "is not positive");
  if (weight === undefined) throw invalid("recency.weight", "is missing");
  if (!(weight >= 0 && weight <= WEIGHT_MAX)) {
    throw invalid("recency.weight", `is ${weight}; it must be a number from 0 to ${WEIGHT_MAX}`);
  }
  const referenceAtMs = parseTimeOfYears("recency.reference_time", asked.referenceAtMs) ?? nowMs;
  return { halfLifeMs, weight, referenceAtMs };
}
