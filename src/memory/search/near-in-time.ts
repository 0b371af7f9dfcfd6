import type { Recency } from "../requests/recall-options.js";
import { type Near, SCORE_ERROR } from "./nearby.js";
import { RECENCY_CANDIDATES, recencyBounds } from "./recency.js";

/** Difference of two ranks that may be due to rounding. */
const RANK_ERROR = 1e-9;

/** Memories near to a query, the nearest first, and when those happened of which it is known. */
export interface NearInTime {
  readonly nearby: ReadonlyMap<number, Near>;
  readonly times: ReadonlyMap<number, number>;
  /** Bound of the error of a similarity. */
  readonly error: number;
  readonly recency: Recency;
  /** Number of memories that the caller wants, and the lowest score that they may have. */
  readonly wanted: number;
  readonly minScore?: number | undefined;
}

/**
 * True if a memory that is less near than all of these can be among the best `wanted`: age adds the whole weight at
 * most, so it cannot if that does not bring it to the last of them.
 */
export function canOthersBeBest(near: NearInTime): boolean {
  const { error, recency, minScore = 0 } = near;
  const last = [...near.nearby.values()].at(-1)?.similarity ?? 1;
  const highest = clamp(last + error + SCORE_ERROR);
  return highest >= minScore && highest + recency.weight >= barOf(near);
}

/**
 * Selects the memories that may be among the best `wanted` by their scores and ages, whatever the error of the
 * similarities is, the nearest first. They are at most `RECENCY_CANDIDATES`: if more are alike but for that error,
 * those are taken that are best without regard to it.
 */
export function mayBeBestInTime(near: NearInTime): Map<number, Near> {
  const { nearby, times, error, recency, minScore = 0 } = near;
  const bar = barOf(near);
  const off = error + SCORE_ERROR;
  const possible: { readonly sequence: number; readonly rank: number }[] = [];
  for (const [sequence, { similarity }] of nearby) {
    const added = recencyBounds(recency, times.get(sequence)).highest;
    const highest = clamp(similarity + off);
    if (highest < minScore || highest + added < bar) continue;
    possible.push({ sequence, rank: similarity + added });
  }
  possible.sort((a, b) => b.rank - a.rank || a.sequence - b.sequence);
  const chosen = new Set(possible.slice(0, RECENCY_CANDIDATES).map(({ sequence }) => sequence));
  return new Map([...nearby].filter(([sequence]) => chosen.has(sequence)));
}

/** Rank that `wanted` memories have at least. */
function barOf({ nearby, times, error, recency, wanted, minScore = 0 }: NearInTime): number {
  const off = error + SCORE_ERROR;
  const ranks: number[] = [];
  for (const [sequence, { similarity }] of nearby) {
    const lowest = clamp(similarity - off);
    if (lowest >= minScore) ranks.push(lowest + recencyBounds(recency, times.get(sequence)).lowest);
  }
  return (ranks.sort((a, b) => b - a)[wanted - 1] ?? 0) - RANK_ERROR;
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}
