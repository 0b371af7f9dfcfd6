import type { Clock } from "../../concurrency/clock.js";
import { TimeSlice } from "../../concurrency/time-slices.js";
import type { Index } from "../ports/index.js";
import type { Log, MemoryHeader } from "../ports/log.js";
import { vectorsOf } from "../ports/windows.js";
import type { Recency } from "../requests/recall-options.js";
import { fetchAll } from "../versions/fetch.js";
import type { Near, NewVersions } from "./nearby.js";
import type { MeanCosine } from "./sampled-mean.js";
import { type Pair, type Scored, score } from "./score.js";

/** Memories that each way of finding contributes; measured: fewer lose results, more gain none. */
export const NEAR_CANDIDATES = 50;
export const WORD_CANDIDATES = 50;
/**
 * Nearest memories that are candidates when ages count. Where the search is exact, all others that can be among the best
 * are candidates as well.
 */
export const RECENCY_CANDIDATES = 200;

/** Bound of how far a score is from the cosine, because a vector's length is not exactly 1. */
const SCORE_ERROR = 1e-5;
/** Difference of two ranks that may be due to rounding. */
const RANK_ERROR = 1e-9;

/** How one memory matches the words of a query. */
interface MatchedWords {
  /** Share of the query's words that the memory has, 0 to 1. */
  readonly share: number;
  /** Words of the query that the memory has, as the query has them, in lower case. */
  readonly matched: readonly string[];
}

/** Match of a memory that has none of the words. */
export const NO_WORDS: MatchedWords = { share: 0, matched: [] };

/** What the search for the words of a query found, with all that is needed to weigh words against meaning. */
export interface WordMatches {
  /** Log numbers of the memories whose words fit best, best first. */
  readonly matches: readonly number[];
  readonly meanCosine: MeanCosine;
  /** Matches memories with the words that were found, whatever is stored meanwhile; those without any may be left out. */
  match(sequences: readonly number[]): Promise<ReadonlyMap<number, MatchedWords>>;
}

/** Memories near to a query, the nearest first, as an index knows them. */
export interface Nearest {
  readonly nearby: ReadonlyMap<number, Near>;
  /** Bound of the error of a similarity. */
  readonly error: number;
  /** When memories happened, as far as it is known before their records are read. */
  readonly times?: ReadonlyMap<number, number> | undefined;
}

/** Which memories are the best. */
export interface Ranking {
  /** Number of memories that the caller wants. */
  readonly wanted: number;
  /** Lowest score that they may have; the weight of words does not depend on it. */
  readonly minScore?: number | undefined;
  /** How much ages count; not at all when left out. */
  readonly recency?: Recency | undefined;
}

/** What the searches for a query found, by vectors and by words. */
export interface Found extends Nearest, Ranking {
  readonly vectors: readonly Float32Array[];
  /** Number of the nearest that count; others are given to decide, by exact scores, who is among these. */
  readonly nearMax: number;
  readonly newVersions: NewVersions;
  /** Undefined in an order by meaning alone. */
  readonly wordMatches?: WordMatches | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A log, and whether vectors are of its model. */
export interface ScoredLog {
  readonly logId: string;
  readonly log: Pick<Log, "fetch">;
  readonly clock: Clock;
  readonly fits: Index["fits"];
}

/** A memory in the order of its rank. */
export interface RankedMemory extends Scored, MatchedWords {
  /** Its score, its share of the query's words times their weight, and what its age adds. */
  readonly rank: number;
  /** Part of its rank that comes from its age; undefined if ages do not count. */
  readonly recency: number | undefined;
}

export interface RankedMemories {
  /** Weight of words: 1 less what the best memory stands out by with its meaning; 0 to 1, and 0 without words. */
  readonly weight: number;
  /** Best first; of equals, the older comes first. */
  readonly ranked: readonly RankedMemory[];
}

/**
 * Ranks the best `wanted` memories by meaning, and by words and age if these count. It reads no record of a memory
 * that cannot be among them, unless one of the others is missing in the log.
 */
export async function rankBest(log: ScoredLog, all: Found): Promise<RankedMemories> {
  const { edge, ...found } = withEdge(all);
  const candidates = await gatherCandidates(found);
  const mean = found.wordMatches?.meanCosine(found.vectors);
  const needed = mayBeBest(candidates, found, mean);
  if (needed.some(({ sequence }) => edge.has(sequence))) {
    // Another replica's index has other errors but must give the same answer, so exact scores decide at the edge.
    const atEdge = candidates.filter(({ sequence }) => edge.has(sequence));
    const scored = await scoreAll(log, found, atEdge);
    scored.sort((a, b) => b.score - a.score || a.sequence - b.sequence);
    const left = all.nearMax - (found.nearby.size - edge.size);
    const inside = new Set(scored.slice(0, left).map(({ sequence }) => sequence));
    const nearby = new Map([...found.nearby].filter(([each]) => !edge.has(each) || inside.has(each)));
    return rankBest(log, { ...found, nearby });
  }
  const scored = await scoreAll(log, found, needed);
  if (scored.length < needed.length) {
    // Others may take the ranks of those that are missing.
    const rest = candidates.filter((each) => !needed.includes(each));
    scored.push(...(await scoreAll(log, found, rest)));
  }
  return rankAll(scored, found, mean);
}

/** Leaves out what is surely beyond the `nearMax` nearest. The edge are those that the index's error may put there. */
function withEdge(found: Found): Found & { readonly edge: ReadonlySet<number> } {
  const { nearby, nearMax, error } = found;
  const similarities = Array.from(nearby.values(), ({ similarity }) => similarity);
  const [last, next] = [similarities[nearMax - 1], similarities[nearMax]];
  if (last === undefined || next === undefined) return { ...found, edge: new Set() };
  const margin = 2 * (error + SCORE_ERROR);
  const left = [...nearby].filter(([, { similarity }], i) => i < nearMax || similarity + margin >= last);
  const edge = left.filter(([, { similarity }], i) => i >= nearMax || similarity - margin <= next);
  return { ...found, nearby: new Map(left), edge: new Set(edge.map(([sequence]) => sequence)) };
}

/** A memory with bounds of its score and of what its age adds, before its record is read. */
interface Candidate extends MatchedWords {
  readonly sequence: number;
  /** True unless only its words were found. */
  readonly isNear: boolean;
  /** Undefined if the index did not find it. */
  readonly pairs: readonly Pair[] | undefined;
  readonly lowest: number;
  readonly highest: number;
  readonly added: { readonly lowest: number; readonly highest: number };
}

/** Makes candidates of what was found by its vectors, the nearest first. */
function nearCandidates(
  { nearby, error, times, recency }: Nearest & Ranking,
  matchedWords?: ReadonlyMap<number, MatchedWords>,
): Candidate[] {
  const off = error + SCORE_ERROR;
  return Array.from(nearby, ([sequence, { similarity, pairs }]) => {
    const { share, matched } = matchedWords?.get(sequence) ?? NO_WORDS;
    const lowest = clamp(similarity - off);
    const highest = clamp(similarity + off);
    const added = recencyBounds(recency, times?.get(sequence));
    return { sequence, isNear: true, pairs, lowest, highest, added, share, matched };
  });
}

/** Gathers the candidates of all ways, with their words. */
async function gatherCandidates(found: Found): Promise<readonly Candidate[]> {
  const { vectors, nearby, wordMatches, newVersions, recency, times } = found;
  const others = new Set([...(wordMatches?.matches ?? []), ...newVersions.numbers]);
  for (const sequence of nearby.keys()) others.delete(sequence);
  const matchedWords = await wordMatches?.match([...nearby.keys(), ...others]);
  const near = nearCandidates(found, matchedWords);
  // A memory that the search of the vectors did not find is no nearer than the last one that it found. (If a graph
  // missed one, a recall by meaning alone would miss it too.) The searches for a long query do not go as deep.
  const isDeep = vectors.length === 1 && nearby.size >= NEAR_CANDIDATES;
  const beyond = isDeep ? (near.at(-1)?.highest ?? 1) : 1;
  return near.concat(
    Array.from(others, (sequence) => {
      const { share, matched } = matchedWords?.get(sequence) ?? NO_WORDS;
      const isNear = newVersions.numbers.includes(sequence);
      const added = recencyBounds(recency, times?.get(sequence));
      const highest = isNear ? 1 : beyond;
      return { sequence, isNear, pairs: undefined, lowest: 0, highest, added, share, matched };
    }),
  );
}

/**
 * Selects the candidates that may be among the best or be the nearest, whatever the errors are. If ages count, they are
 * at most `RECENCY_CANDIDATES`: of more that are alike but for the errors, those that may have the highest ranks.
 */
function mayBeBest(
  candidates: readonly Candidate[],
  ranking: Ranking,
  mean?: number | undefined,
): readonly Candidate[] {
  const near = mean === undefined ? [] : candidates.filter(({ isNear }) => isNear);
  const bestLowest = Math.max(0, ...near.map(({ lowest }) => lowest));
  const bestHighest = Math.max(0, ...near.map(({ highest }) => highest));
  const weight = wordWeightOf(bestLowest, mean);
  const floor = rankFloor(candidates, ranking, wordWeightOf(bestHighest, mean));
  const { minScore = 0, recency } = ranking;
  const highestRank = ({ highest, share, added }: Candidate) => highest + weight * share + added.highest;
  let possible = candidates.filter((each) => each.highest >= minScore && highestRank(each) >= floor);
  if (recency !== undefined && possible.length > RECENCY_CANDIDATES) {
    possible = possible
      .sort((a, b) => highestRank(b) - highestRank(a) || a.sequence - b.sequence)
      .slice(0, RECENCY_CANDIDATES);
  }
  if (mean === undefined) return possible;
  // The nearest decide how much words weigh.
  return [...new Set([...possible, ...near.filter(({ highest }) => highest >= bestLowest)])];
}

/** Lower bound of the rank of the last of the `wanted` best. */
function rankFloor(candidates: readonly Candidate[], { wanted, minScore = 0 }: Ranking, weight = 0): number {
  const ranks: number[] = [];
  for (const { lowest, share, added } of candidates) {
    if (lowest >= minScore) ranks.push(lowest + weight * share + added.lowest);
  }
  // If ages count, there may be thousands of ranks: a typed array sorts them several times as fast.
  return (Float64Array.from(ranks).sort().at(-wanted) ?? 0) - RANK_ERROR;
}

/**
 * Selects the candidates of an order in which ages count: the nearest, and those that age can bring among the best.
 * Undefined if the search must go further, because a memory that it has not found could be among the best if age added
 * the whole weight to its rank.
 */
export function recencyCandidates(
  near: Nearest & Ranking & { readonly recency: Recency },
  { isAll }: { isAll: boolean },
): Map<number, Near> | undefined {
  const { nearby, recency, minScore = 0 } = near;
  const candidates = nearCandidates(near);
  const highest = candidates.at(-1)?.highest ?? 1;
  const canOthersBeBest = highest >= minScore && highest + recency.weight >= rankFloor(candidates, near);
  if (!isAll && canOthersBeBest) return undefined;
  const nearest = [...nearby].slice(0, RECENCY_CANDIDATES);
  const possible = new Set(mayBeBest(candidates, near).map(({ sequence }) => sequence));
  return new Map([...nearest, ...[...nearby].filter(([sequence]) => possible.has(sequence))]);
}

interface ScoredCandidate extends Scored, MatchedWords {
  readonly isNear: boolean;
}

/** Scores candidates by their stored vectors, slice by slice. */
async function scoreAll(
  { logId, log, clock, fits }: ScoredLog,
  { vectors, newVersions, signal }: Found,
  candidates: readonly Candidate[],
): Promise<ScoredCandidate[]> {
  const bySequence = new Map(candidates.map((each) => [each.sequence, each]));
  const all: ScoredCandidate[] = [];
  for await (const entries of fetchAll(log, {
    logId,
    sequences: [...bySequence.keys()],
    projection: "all",
  })) {
    const timeSlice = new TimeSlice(clock);
    // Taken out one by one, so that the vectors of each are freed once it is scored: hundreds of recalls may wait here.
    for (let each = entries.shift(); each !== undefined; each = entries.shift()) {
      const { pairs, isNear, share, matched } = bySequence.get(each.sequence) as Candidate;
      // A damaged memory is not among the vectors, but its words may be.
      if (pairs === undefined && !fits(vectorsOf(each.entry))) continue;
      if (pairs === undefined && isNear && !newVersions.accepts(each.entry)) continue;
      all.push(Object.assign(score(vectors, each, pairs), { isNear, share, matched }));
      if (!timeSlice.isOver) continue;
      await timeSlice.end();
      signal?.throwIfAborted();
    }
  }
  return all;
}

/** Ranks candidates, and takes the best; of equals, the older comes first. */
function rankAll(
  candidates: readonly ScoredCandidate[],
  { wanted, minScore = 0, recency: counted }: Ranking,
  mean: number | undefined,
): RankedMemories {
  const living = latestOf(candidates);
  const near = living.filter(({ isNear }) => isNear);
  const weight = wordWeightOf(Math.max(0, ...near.map(({ score }) => score)), mean);
  const fit = living.filter(({ score }) => score >= minScore);
  const ranked = fit.map(({ sequence, entry, score, part, share, matched }) => {
    const recency = counted && recencyOf(counted, entry.eventAtMs ?? entry.createdAtMs);
    const rank = score + weight * share + (recency ?? 0);
    return { sequence, entry, score, part, share, matched, rank, recency };
  });
  ranked.sort((a, b) => b.rank - a.rank || byCreation(a.entry, b.entry));
  return { weight, ranked: ranked.slice(0, wanted) };
}

/**
 * Leaves out older versions of memories. A search that goes on while a memory is updated may find both, as long
 * as the old one is not erased.
 */
function latestOf(candidates: readonly ScoredCandidate[]): ScoredCandidate[] {
  const latest = new Map<string, number>();
  for (const { sequence, entry } of candidates) {
    latest.set(entry.id, Math.max(sequence, latest.get(entry.id) ?? 0));
  }
  return candidates.filter(({ sequence, entry }) => latest.get(entry.id) === sequence);
}

/** Weight of words: the less the best memory stands out by its meaning, the more. */
function wordWeightOf(best: number, mean: number | undefined): number {
  return mean === undefined ? 0 : clamp(1 - (best - mean));
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}

/** Compares two memories by when they were created, and then by their ids. */
export function byCreation(
  a: Pick<MemoryHeader, "createdAtMs" | "id">,
  b: Pick<MemoryHeader, "createdAtMs" | "id">,
): number {
  return a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : Number(a.id > b.id));
}

const NOTHING = { lowest: 0, highest: 0 };

/** Addition to a memory's rank for its age: the whole weight at age 0, less with each half-life. A time to come counts as age 0. */
export function recencyOf({ halfLifeMs, weight, referenceAtMs }: Recency, eventAtMs: number): number {
  return weight * 2 ** (-Math.max(0, referenceAtMs - eventAtMs) / halfLifeMs);
}

/** Bounds of what the age of a memory adds, if ages count: one value if it is known when it happened. */
function recencyBounds(recency: Recency | undefined, eventAtMs: number | undefined) {
  if (recency === undefined) return NOTHING;
  if (eventAtMs === undefined) return { lowest: 0, highest: recency.weight };
  const value = recencyOf(recency, eventAtMs);
  return { lowest: value, highest: value };
}
