import { TimeSlice } from "../../concurrency/time-slices.js";
import type { Index } from "../ports/index.js";
import { vectorsOf } from "../ports/windows.js";
import type { Recency } from "../requests/recall-options.js";
import { type Near, type NewVersions, SCORE_ERROR, type Searched } from "./nearby.js";
import { recencyBounds, recencyOfMemory } from "./recency.js";
import { latestOf, type Pair, type Ranked, type Scored, score, withMatch } from "./score.js";
import { type Judged, NO_WORDS, type WordMatches } from "./word-matches.js";

/** Memories that each way of finding contributes; measured: fewer lose results, more gain none. */
export const NEAR_CANDIDATES = 50;
export const WORD_CANDIDATES = 50;
/**
 * Vectors looked for beyond one for each near memory. With three for each, as recalls by meaning have, every graph
 * of a large namespace would be searched four times as broadly, for memories that are hardly ever among the best.
 */
export const NEAR_SPARE = 14;

/** Difference of two ranks that may be due to rounding. */
const RANK_ERROR = 1e-9;

/** A log, and whether vectors are of its model. */
export type SearchedBoth = Pick<Searched, "logId" | "log" | "clock"> & {
  readonly fits: Index["fits"];
};

/** Finds of both ways for a query. */
export interface FoundBoth {
  readonly vectors: readonly Float32Array[];
  /** Memories near to the query, the nearest first; at most `NEAR_CANDIDATES`. */
  readonly nearby: ReadonlyMap<number, Near>;
  /** Bound of the error of a similarity. */
  readonly error: number;
  readonly newVersions: NewVersions;
  readonly wordMatches: Pick<WordMatches, "matches" | "judge" | "meanCosine">;
  /** Number of memories that the caller wants. */
  readonly wanted: number;
  /** Lowest score that they may have; the weight of words does not depend on it. */
  readonly minScore?: number | undefined;
  /** How much ages count; not at all when left out. */
  readonly recency?: Recency | undefined;
  /** When memories happened, as far as it is known before their records are read. */
  readonly times?: ReadonlyMap<number, number> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A memory in the order by meaning and words. */
export interface Placed extends Ranked, Judged {
  /** Its score, its share of the query's words times their weight, and what its age adds. */
  readonly rank: number;
  /** What its age adds; undefined if ages do not count. */
  readonly recency?: number | undefined;
}

export interface Placement {
  /** Weight of words: 1 less what the best memory stands out by with its meaning; 0 to 1. */
  readonly weight: number;
  /** Best first. */
  readonly placed: readonly Placed[];
}

/**
 * Places the best `wanted` memories by meaning and words. It reads no record of a memory that cannot be among
 * them, unless one of the others is missing in the log.
 */
export async function placeBest(searched: SearchedBoth, found: FoundBoth): Promise<Placement> {
  const candidates = await gather(found);
  const mean = found.wordMatches.meanCosine(found.vectors);
  const needed = mayBeBest(candidates, { ...found, mean });
  const scored = await scoreAll(searched, { ...found, candidates: needed });
  if (scored.length < needed.length) {
    const rest = candidates.filter((each) => !needed.includes(each));
    scored.push(...(await scoreAll(searched, { ...found, candidates: rest })));
  }
  return place(scored, { ...found, mean });
}

/** A candidate, with bounds of its score before its record is read. */
interface Candidate extends Judged {
  readonly sequence: number;
  /** True unless only its words were found. */
  readonly isNear: boolean;
  /** Undefined if the index did not find it. */
  readonly pairs: readonly Pair[] | undefined;
  readonly lowest: number;
  readonly highest: number;
  /** Bounds of what its age adds. */
  readonly added: { readonly lowest: number; readonly highest: number };
}

interface Scoring extends Judged {
  readonly scored: Scored;
  readonly isNear: boolean;
}

const NOTHING_ADDED = { lowest: 0, highest: 0 };

/** Gathers the candidates of both ways, with their words. */
async function gather(found: FoundBoth): Promise<Candidate[]> {
  const { vectors, nearby, wordMatches, error, newVersions, recency, times } = found;
  const sequences = [...new Set([...nearby.keys(), ...wordMatches.matches, ...newVersions.numbers])];
  const judged = await wordMatches.judge(sequences);
  const off = error + SCORE_ERROR;
  const last = [...nearby.values()].at(-1)?.similarity ?? 1;
  // What was not found by its vectors is not nearer than what was found last. (A graph may have missed it, but
  // then a recall by meaning alone would have too.) The searches for a long query are not as deep as that.
  const isDeep = vectors.length === 1 && nearby.size >= NEAR_CANDIDATES;
  const beyond = isDeep ? clamp(last + off) : 1;
  return sequences.map((sequence) => {
    const near = nearby.get(sequence);
    const isNew = newVersions.numbers.includes(sequence);
    const lowest = near === undefined ? 0 : clamp(near.similarity - off);
    const highest = near === undefined ? (isNew ? 1 : beyond) : clamp(near.similarity + off);
    const bounds = { isNear: near !== undefined || isNew, lowest, highest };
    const added = recency ? recencyBounds(recency, times?.get(sequence)) : NOTHING_ADDED;
    return { sequence, pairs: near?.pairs, ...bounds, added, ...(judged.get(sequence) ?? NO_WORDS) };
  });
}

/** Selects the candidates that may be among the best or be the nearest, whatever the errors are. */
function mayBeBest(candidates: readonly Candidate[], { wanted, mean, minScore = 0 }: Placing): Candidate[] {
  const near = candidates.filter(({ isNear }) => isNear);
  const [bestLowest, bestHighest] = [
    Math.max(0, ...near.map(({ lowest }) => lowest)),
    Math.max(0, ...near.map(({ highest }) => highest)),
  ];
  const weight = { lowest: weightOf(bestHighest, mean), highest: weightOf(bestLowest, mean) };
  const sure = candidates.filter(({ lowest }) => lowest >= minScore);
  const ranks = sure.map(({ lowest, share, added }) => lowest + weight.lowest * share + added.lowest);
  const sorted = ranks.sort((a, b) => b - a);
  const bar = (sorted[wanted - 1] ?? 0) - RANK_ERROR;
  return candidates.filter(
    ({ isNear, highest, share, added }) =>
      (highest >= minScore && highest + weight.highest * share + added.highest >= bar) ||
      (isNear && highest >= bestLowest),
  );
}

/** Scores candidates by their stored vectors, slice by slice. */
async function scoreAll(
  { logId, log, clock, fits }: SearchedBoth,
  { candidates, vectors, newVersions, signal }: FoundBoth & { candidates: readonly Candidate[] },
): Promise<Scoring[]> {
  const bySequence = new Map(candidates.map((each) => [each.sequence, each]));
  const all: Scoring[] = [];
  let timeSlice = new TimeSlice();
  for (let rest: readonly number[] = [...bySequence.keys()]; rest.length > 0; ) {
    const slice = await log.fetch({ logId, sequences: rest, what: "all" });
    rest = slice.rest;
    // Each lets go of its vectors once it is scored: hundreds of recalls may wait here.
    for (let each = slice.found.shift(); each !== undefined; each = slice.found.shift()) {
      const { pairs, isNear, share, matched } = bySequence.get(each.sequence) as Candidate;
      // A damaged memory is not among the vectors, but its words may be.
      if (pairs === undefined && !fits(vectorsOf(each.entry))) continue;
      if (pairs === undefined && isNear && !newVersions.accepts(each.entry)) continue;
      all.push({ scored: score(vectors, { ...each, pairs }), isNear, share, matched });
      const isEnd = slice.found.length === 0 && rest.length > 0;
      if (!timeSlice.isOver && !isEnd) continue;
      await clock.yield();
      signal?.throwIfAborted();
      timeSlice = new TimeSlice();
    }
  }
  return all;
}

interface Placing extends Pick<FoundBoth, "wanted" | "minScore" | "recency"> {
  readonly mean: number;
}

/** Orders by rank; of equals, the older comes first. */
function place(
  scorings: readonly Scoring[],
  { wanted, mean, minScore = 0, recency: counted }: Placing,
): Placement {
  const living = latestOf(scorings, ({ scored }) => scored);
  const near = living.filter(({ isNear }) => isNear);
  const weight = weightOf(Math.max(0, ...near.map(({ scored }) => scored.score)), mean);
  const high = living.filter(({ scored }) => scored.score >= minScore);
  const ranked = high.map((each) => {
    const recency = counted && recencyOfMemory(counted, each.scored.entry);
    return { ...each, recency, rank: each.scored.score + weight * each.share + (recency ?? 0) };
  });
  ranked.sort((a, b) => b.rank - a.rank || a.scored.sequence - b.scored.sequence);
  const placed = ranked.slice(0, wanted).map(({ scored, share, matched, rank, recency }) => {
    return { ...withMatch(scored), share, matched, rank, recency };
  });
  return { weight, placed };
}

/** Weight of words: the less the best memory stands out by its meaning, the more. */
function weightOf(best: number, mean: number): number {
  return clamp(1 - (best - mean));
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}
