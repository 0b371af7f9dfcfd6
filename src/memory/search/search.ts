import { mapConcurrently } from "../../concurrency/map-concurrently.js";
import { unavailable } from "../../errors.js";
import { type Condition, type Filter, testsOf } from "../ports/condition.js";
import {
  type EventOrder,
  type Happened,
  type Index,
  type Selection,
  shareOf,
  type WordHit,
} from "../ports/index.js";
import type { Log, Projected } from "../ports/log.js";
import type { DomainPorts } from "../ports/ports.js";
import type { Replacement } from "../ports/secondary-indexes.js";
import { type CallStep, NO_TIMINGS, type StepTimer } from "../ports/step-timer.js";
import { matches } from "../requests/matches.js";
import { lastOf } from "../versions/current-version.js";
import { fetchAll } from "../versions/fetch.js";
import { findNearby, type Query } from "./nearby.js";
import {
  NEAR_CANDIDATES,
  type RankedMemories,
  type Ranking,
  RECENCY_CANDIDATES,
  rankBest,
  recencyCandidates,
  WORD_CANDIDATES,
  type WordMatches,
} from "./rank.js";
import type { MeanCosine } from "./sampled-mean.js";

/** Maximum number of searches for one recall, if others change what it finds meanwhile. */
const SEARCHES_MAX = 10;
/** Candidates beyond those that are wanted, so that the index's rounding does not decide the last result. */
const SPARE_CANDIDATES = 8;
/**
 * Vectors looked for beyond one for each near memory if words count, also to know those at the edge. With three for each,
 * as recalls by meaning have, every graph of a large namespace would be searched four times as broadly, for memories that
 * are hardly ever among the best.
 */
const NEAR_SPARE = 14;
/** Factor by which each step of a search in which ages count finds more memories than the one before. */
const RECENCY_STEP = 4;
/** Maximum number of new versions that one search takes as candidates; it is done again if there are more. */
const NEW_VERSIONS_MAX = 50;
/** Ids that are looked up at a time. */
const LOCATE_MANY = 8;

/** Maximum number of changes that are noted during a search; one with more is done again. */
export const CHANGES_MAX = 1_000;

/** A change that another call made to a memory during a search. */
export type Change = Omit<Replacement, "id">;

/** A replica as a search sees it. */
export interface Searchable {
  readonly logId: string;
  readonly options: Pick<DomainPorts, "log" | "secondaryIndexes" | "clock" | "indexes">;
  /** For each running search, the changes since it began. */
  readonly searches: Set<Change[]>;
  /** Number of the last entry that its indexes have. */
  readonly applied: number;
  /** Catches up with the log. */
  current(): Promise<void>;
  /** The indexes to search, without what has expired by now. */
  sources(includeSuperseded: boolean): Promise<Sources>;
  /** Awaits the work of an index; if the index fails, the replica is broken. */
  readonly guard: <T>(work: Promise<T>) => Promise<T>;
}

/** Indexes that are searched together: of the living memories, and of superseded ones if they are wanted. */
export interface Sources {
  readonly indexes: readonly Index[];
  /** Returns the mean cosine to these memories. */
  mean(): Promise<MeanCosine>;
}

export interface SearchOptions {
  /** True if superseded memories are visible, too. */
  readonly includeSuperseded?: boolean | undefined;
  readonly timer?: StepTimer<CallStep> | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface BestOptions extends Pick<Query, "vectors">, Ranking {
  /** Promise of `matchWords`, if words count as well; the vectors are searched meanwhile. */
  readonly wordMatches?: Promise<WordMatches> | undefined;
}

/**
 * Searches a replica. If others replace or delete meanwhile what it finds, all of it is done again, because the new
 * versions were not there yet.
 *
 * @throws MemoryError `unavailable` if memories are replaced faster than they are found.
 */
export async function searching<T>(
  searchable: Searchable,
  work: (search: Search) => Promise<T>,
  options: SearchOptions,
): Promise<T> {
  for (let searches = 1; ; searches++) {
    const changes: Change[] = [];
    searchable.searches.add(changes);
    try {
      const search = new Search(searchable, changes, options);
      const found = await work(search);
      const overtaken = await search.overtaken();
      if (overtaken === undefined) return found;
      if (searches < SEARCHES_MAX) continue;
      // A deleted memory was found in vain, but it has no new version that could be missing.
      if (overtaken === "deleted") return found;
      throw unavailable("memories of this namespace are replaced faster than they are found; try again");
    } finally {
      searchable.searches.delete(changes);
    }
  }
}

/** One attempt to find memories in a replica. */
export class Search {
  readonly #missing = new Set<number>();
  /** True if there were more new versions than it takes as candidates. */
  #hasTooMany = false;
  readonly #log: Pick<Log, "fetch">;
  readonly #timer: StepTimer<CallStep>;
  /** The memories among which it searches, and their condition; all if it has selected none. */
  #among: Selection | undefined;
  #condition: Condition | undefined;

  constructor(
    private readonly searchable: Searchable,
    private readonly changes: readonly Change[],
    private readonly options: SearchOptions,
  ) {
    this.#timer = options.timer ?? NO_TIMINGS;
    this.#log = notingMissing(searchable.options.log, this.#missing);
  }

  /** Selects the memories that match a filter, to search among them; it sees all that `current` has seen. */
  select({ condition }: Pick<Filter, "condition">): Promise<Selection> {
    this.#condition = condition;
    return this.#timer.time("filter", async () => {
      const ids = await this.#locate(condition);
      const { indexes } = await this.#sources();
      this.options.signal?.throwIfAborted();
      const { guard, options: ports } = this.searchable;
      const selected = await guard(ports.indexes.select(indexes, { condition, ids }));
      this.#among = selected.with(await this.#replacedIn(selected, condition));
      return this.#among;
    });
  }

  /** Counts all memories that it may show. */
  async size(): Promise<number> {
    const { indexes } = await this.#sources();
    return indexes.reduce((sum, { size }) => sum + size, 0);
  }

  /** Lists the first of some memories in the order of their event times. */
  async inEventOrder(selection: Selection, order: EventOrder): Promise<Happened[]> {
    const { indexes } = await this.#sources();
    const { guard, options } = this.searchable;
    return guard(options.indexes.inEventOrder(indexes, selection, order));
  }

  /** Finds the memories whose words fit a query best, at least `wanted`; it sees all that `current` has seen. */
  matchWords(text: string, wanted = WORD_CANDIDATES): Promise<WordMatches> {
    const { guard } = this.searchable;
    const { indexes: all } = this.searchable.options;
    return this.#timer.time("words", async () => {
      const { indexes, mean } = await this.#sources();
      const query = { text, limit: Math.max(WORD_CANDIDATES, wanted), among: this.#among };
      const [found, meanCosine] = await Promise.all([guard(all.searchWords(indexes, query)), mean()]);
      const matches = found.matches.map(({ sequence }) => sequence);
      const match = async (sequences: readonly number[]) => {
        const hits = await guard(all.scoreWords(indexes, found.query, sequences));
        const matchOf = (hit: WordHit) => ({ share: shareOf(hit, found.query), matched: hit.words });
        return new Map(hits.map((hit) => [hit.sequence, matchOf(hit)]));
      };
      return { matches: matches.filter((sequence) => this.#isVisible(sequence)), meanCosine, match };
    });
  }

  /**
   * Finds the memories that are best by meaning, and by words and age if these count; fewer than are wanted if the
   * log holds fewer.
   */
  async best(query: BestOptions): Promise<RankedMemories> {
    const { vectors, wanted, minScore, recency } = query;
    const { signal } = this.options;
    const { log, ...near } = await this.#timer.time("search", () => this.#searchFor(query));
    const wordMatches = await query.wordMatches;
    const condition = this.#condition;
    // An index may have lost the old version of a memory before it was asked, or while it searched, and may not have had
    // the new one.
    const newVersions = {
      numbers: await this.#lastVersions((sequence) => near.nearby.has(sequence)),
      accepts: (entry: Projected["text"]) => condition === undefined || matches(condition, entry),
    };
    const ranking = { wanted, minScore, recency };
    const found = { vectors, ...near, wordMatches, newVersions, signal, ...ranking };
    return this.#timer.time("fetch", () => rankBest(log, found));
  }

  /** Adds which memory superseded each of those that were found, and leaves out those that are gone meanwhile. */
  async withSupersededBy<M extends Pick<Replacement, "sequence">>(
    found: readonly M[],
  ): Promise<(M & { supersededBy: string | undefined })[]> {
    if (found.length === 0) return [];
    const { logId, options } = this.searchable;
    const sequences = found.map(({ sequence }) => sequence);
    const all = await options.secondaryIndexes.findReplacements({ logId, sequences });
    return found.flatMap((each) => {
      const by = lastOf(all.filter(({ target }) => target === each.sequence));
      if (by === undefined || by.how === "superseded") return [{ ...each, supersededBy: by?.id }];
      // Its new version may not have been found.
      this.#missing.add(each.sequence);
      return [];
    });
  }

  /** Returns how others have changed what a search found; undefined if they have not. */
  async overtaken(): Promise<"replaced" | "deleted" | undefined> {
    if (this.#hasTooMany || this.changes.length > CHANGES_MAX) return "replaced";
    if (this.#missing.size === 0) return undefined;
    // The log has the entries that replaced or deleted them. A damaged memory is missing as well.
    await this.searchable.current();
    const replacements = this.#replacements;
    const gone = [...this.#missing].filter((sequence) => replacements.has(sequence));
    if (gone.length === 0) return undefined;
    return gone.some((sequence) => replacements.get(sequence) !== undefined) ? "replaced" : "deleted";
  }

  /** Number of the memory that replaced or superseded each; undefined for those that were deleted. */
  get #replacements(): Map<number, number | undefined> {
    // Last: a delete may have come to a version that had been replaced before.
    const replaced = this.changes.filter(({ how }) => how === "replaced");
    return new Map(
      [...this.changes, ...replaced].map(({ target, how, sequence }) => [
        target,
        how === "deleted" ? undefined : sequence,
      ]),
    );
  }

  #sources(): Promise<Sources> {
    return this.searchable.sources(this.options.includeSuperseded === true);
  }

  /** Looks up the memories that a condition names by id; returns a function that returns all their versions since. */
  async #locate(condition: Condition): Promise<() => Map<unknown, number[]>> {
    const ids = new Set<unknown>();
    for (const { field, test } of testsOf(condition)) {
      if (field === "$id" && test.op === "in") for (const id of test.values) ids.add(id);
    }
    const { logId, options } = this.searchable;
    const found = await mapConcurrently([...ids], LOCATE_MANY, async (id) => {
      return [id, await options.secondaryIndexes.locate({ logId, id: String(id) })] as const;
    });
    // Another process may just have stored one of them.
    if (found.some(([, at = 0]) => at > this.searchable.applied)) await this.searchable.current();
    return () => {
      const replaced = this.changes.filter(({ how }) => how === "replaced");
      const newer = new Map(replaced.map(({ target, sequence }) => [target, sequence]));
      return new Map(
        found.map(([id, first]) => {
          const versions: number[] = [];
          for (let at = first; at !== undefined; at = newer.get(at)) versions.push(at);
          return [id, versions];
        }),
      );
    };
  }

  /** Finds the matching new versions of memories that were replaced before the selection came to them. */
  async #replacedIn(selected: Selection, condition: Condition): Promise<number[]> {
    const newer = await this.#lastVersions((sequence) => selected.has(sequence));
    const matching: number[] = [];
    const { logId } = this.searchable;
    for await (const some of fetchAll(this.#log, { logId, sequences: newer, projection: "text" })) {
      for (const { sequence, entry } of some) if (matches(condition, entry)) matching.push(sequence);
    }
    return matching.sort((a, b) => a - b);
  }

  /** Lists the newest versions of memories that were replaced since the search began, without those that are found. */
  async #lastVersions(isFound: (sequence: number) => boolean): Promise<number[]> {
    const replacements = this.#replacements;
    if (replacements.size === 0) return [];
    const { indexes } = await this.searchable.sources(false);
    // One memory may supersede several.
    const newer = [...new Set(replacements.values())].filter(
      (each) => each !== undefined && !replacements.has(each) && indexes.some((index) => index.has(each)),
    ) as number[];
    // They have left the index of the living, and may not have been in the other one.
    if (this.options.includeSuperseded === true) {
      const superseded = this.changes.filter(({ how }) => how === "superseded");
      for (const { target } of superseded) if (replacements.get(target) !== undefined) newer.push(target);
    }
    const missing = newer.filter((sequence) => !isFound(sequence));
    this.#hasTooMany ||= missing.length > NEW_VERSIONS_MAX;
    return missing.slice(0, NEW_VERSIONS_MAX);
  }

  /** True if a memory that was found is still visible. */
  #isVisible(sequence: number): boolean {
    const isHidden = ({ target, how }: Change) => target === sequence && how === "superseded";
    return this.options.includeSuperseded === true || !this.changes.some(isHidden);
  }

  /** Searches the vectors, as broadly as the order needs. */
  async #searchFor({ vectors, recency, wanted, minScore, wordMatches }: BestOptions) {
    if (recency === undefined) {
      const limit = wanted + SPARE_CANDIDATES;
      if (wordMatches === undefined) return this.#searchVisible({ vectors, limit });
      return this.#searchVisible({ vectors, limit: Math.max(NEAR_CANDIDATES, limit), spare: NEAR_SPARE });
    }
    // If the search is exact, it goes on as far as a memory can be among the best by score and age. Each step finds
    // some times as many, so all steps together take little longer than the last, which finds all memories at most:
    // some ten thousand.
    for (let limit = RECENCY_CANDIDATES; ; limit *= RECENCY_STEP) {
      const { isExact, ...visible } = await this.#searchVisible({ vectors, limit });
      const { indexes } = await this.#sources();
      const { guard, options } = this.searchable;
      const times = await guard(options.indexes.eventTimesOf(indexes, [...visible.nearby.keys()]));
      const found = { ...visible, times, recency, wanted, minScore };
      const nearby = recencyCandidates(found, { isAll: !isExact || visible.nearby.size < limit });
      if (nearby !== undefined) return { ...found, nearby };
    }
  }

  /** Finds the visible memories nearest to a query. */
  async #searchVisible({ vectors, limit, spare }: Pick<Query, "vectors" | "limit" | "spare">) {
    const { logId, guard } = this.searchable;
    const { clock } = this.searchable.options;
    const { indexes } = await this.#sources();
    const before = largestErrorOf(indexes);
    const query = { vectors, among: this.#among, signal: this.options.signal, limit, spare };
    const nearby = await findNearby({ indexes, clock, guard }, query);
    for (const sequence of nearby.keys()) if (!this.#isVisible(sequence)) nearby.delete(sequence);
    const fits = (some: readonly Float32Array[]) => (indexes[0] as Index).fits(some);
    return {
      log: { logId, log: this.#log, clock, fits },
      nearby,
      nearMax: limit,
      // An index may have changed its kind meanwhile.
      error: Math.max(before, largestErrorOf(indexes)),
      isExact: indexes.every(({ vectors }) => vectors.isExact),
    };
  }
}

function largestErrorOf(all: readonly Index[]): number {
  return Math.max(...all.map(({ vectors }) => vectors.error));
}

/** The same log, but it notes in `missing` which of the entries that are fetched it does not have. */
function notingMissing(log: Pick<Log, "fetch">, missing: Set<number>): Pick<Log, "fetch"> {
  return {
    fetch: async (request) => {
      const fetched = await log.fetch(request);
      if (fetched.found.length + fetched.rest.length === request.sequences.length) return fetched;
      const answered = new Set([...fetched.rest, ...fetched.found.map(({ sequence }) => sequence)]);
      for (const sequence of request.sequences) if (!answered.has(sequence)) missing.add(sequence);
      return fetched;
    },
  };
}
