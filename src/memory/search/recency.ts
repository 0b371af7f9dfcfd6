import type { Recency } from "../requests/recall-options.js";

/**
 * Memories that are looked at when age counts. Where the search is exact, all others are looked at as well, as far as
 * they can be among the best.
 */
export const RECENCY_CANDIDATES = 200;

const NOTHING = { lowest: 0, highest: 0 };

/** What an age adds to the rank of a memory: from the whole weight to nothing. What happens later has the age 0. */
export function recencyOf({ halfLifeMs, weight, referenceAtMs }: Recency, eventAtMs: number): number {
  return weight * 2 ** (-Math.max(0, referenceAtMs - eventAtMs) / halfLifeMs);
}

/** Bounds of what the age of a memory adds, if ages count: one value if it is known when it happened. */
export function recencyBounds(recency: Recency | undefined, eventAtMs: number | undefined) {
  if (recency === undefined) return NOTHING;
  if (eventAtMs === undefined) return { lowest: 0, highest: recency.weight };
  const value = recencyOf(recency, eventAtMs);
  return { lowest: value, highest: value };
}
