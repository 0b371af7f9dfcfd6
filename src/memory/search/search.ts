import { mapSome } from "../../concurrency/map-some.js";
import { unavailable } from "../../errors.js";
import { type Condition, type Filter, testsOf } from "../ports/condition.js";
import { type EventOrder, type Happened, type Index, type Selection, shareOf } from "../ports/index.js";
import type { Log, Projected } from "../ports/log.js";
import type { DomainPorts } from "../ports/ports.js";
import { type CallStep, NO_TIMINGS, type StepTimer } from "../ports/step-timer.js";
import { matches } from "../requests/matches.js";
import { fetchAll } from "../versions/fetch.js";
import { findNearby, type Query } from "./nearby.js";
import {
  candidatesInTime,
  NEAR_CANDIDATES,
  type Placement,
  placeBest,
  type Ranking,
  RECENCY_CANDIDATES,
  WORD_CANDIDATES,
  type WordMatches,
} from "./place.js";
import type { MeanCosine } from "./sampled-mean.js";

/** Maximum number of searches for one recall, if others change what it finds meanwhile. */
const SEARCHES_MAX = 10;
/** Candidates beyond those that are wanted, so that the index's rounding does not decide the last result. */
const SPARE_CANDIDATES = 8;
/**
 * Vectors looked for beyond one for each near memory if words count. With three for each, as recalls by meaning have,
 * every graph of a large namespace would be searched four times as broadly, for memories that are hardly ever among the
 * best.
 */
const NEAR_SPARE = 14;
/** Times as many memories as before that are found in the next step of a search in which ages count. */
const IN_TIME_STEP = 4;
/** Maximum number of new versions that one search takes as candidates; it is done again if there are more. */
const NEW_VERSIONS_MAX = 50;
/** Ids that are looked up at a time. */
const LOCATE_MANY = 8;

/** Maximum number of changes that are noted during a search; one with more is done again. */
export const CHANGES_MAX = 1_000;

/** A change that another call made to a memory during a search. */
export interface Change {
  readonly target: number;
  readonly how: "replaced" | "superseded" | "deleted";
  /** Number of the entry that changed it. */
  readonly by: number;
}

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
  /** Finds them without what has expired by now. */
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
  /** True if superseded memories may be shown, too. */
  readonly includeSuperseded?: boolean | undefined;
  readonly timer?: StepTimer<CallStep> | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface MatchWordsOptions extends SearchOptions {
  readonly text: string;
  readonly among?: Selection | undefined;
  /** Number of memories that the caller wants. */
  readonly wanted?: number | undefined;
}

export interface BestOptions extends Pick<Query, "vectors" | "among">, Ranking, SearchOptions {
  /** Promise of `matchWords`, if words count as well; the vectors are searched meanwhile. */
  readonly wordMatches?: Promise<WordMatches> | undefined;
}

/**
 * Searches a replica. If others replace or delete meanwhile what it finds, all of it is done again, because the new
 * versions were not there yet.
 *
 * @throws MemoryError `unavailable` if memories are replaced faster than they are found.
 */
export async function searching<T>(searchable: Searchable, work: (search: Search) => Promise<T>): Promise<T> {
  for (let searches = 1; ; searches++) {
    const changes: Change[] = [];
    searchable.searches.add(changes);
    try {
      const search = new Search(searchable, changes);
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
  /** Condition of the memories that it selected. */
  #condition: Condition | undefined;

  constructor(
    private readonly searchable: Searchable,
    private readonly changes: readonly Change[],
  ) {
    this.#log = watched(searchable.options.log, this.#missing);
  }

  /** Selects the memories that match a filter; it sees all that `current` has seen. */
  select({ condition }: Pick<Filter, "condition">, options: SearchOptions = {}): Promise<Selection> {
    const { signal, timer = NO_TIMINGS, includeSuperseded = false } = options;
    this.#condition = condition;
    return timer.time("filter", async () => {
      const ids = await this.#locate(condition);
      const { indexes } = await this.#sources({ includeSuperseded });
      signal?.throwIfAborted();
      const { guard, options: ports } = this.searchable;
      const selected = await guard(ports.indexes.select(indexes, { condition, ids }));
      return selected.with(await this.#replacedIn(selected, { condition, includeSuperseded }));
    });
  }

  /** Lists the first of the memories that it selected in the order of their event times. */
  async inEventOrder(selection: Selection, order: EventOrder, showing: SearchOptions): Promise<Happened[]> {
    const { indexes } = await this.#sources(showing);
    const { guard, options } = this.searchable;
    return guard(options.indexes.inEventOrder(indexes, selection, order));
  }

  /** Finds the memories whose words fit a query best; it sees all that `current` has seen. */
  matchWords({
    timer = NO_TIMINGS,
    text,
    among,
    wanted = WORD_CANDIDATES,
    ...showing
  }: MatchWordsOptions): Promise<WordMatches> {
    const { guard } = this.searchable;
    const { indexes: all } = this.searchable.options;
    return timer.time("words", async () => {
      const { indexes, mean } = await this.#sources(showing);
      const query = { text, limit: Math.max(WORD_CANDIDATES, wanted), among };
      const [found, meanCosine] = await Promise.all([guard(all.searchWords(indexes, query)), mean()]);
      const matches = found.matches.map(({ sequence }) => sequence);
      const judge = async (sequences: readonly number[]) => {
        const hits = await guard(all.scoreWords(indexes, found.query, sequences));
        return new Map(
          hits.map(
            (hit) => [hit.sequence, { share: shareOf(hit, found.query), matched: hit.words }] as const,
          ),
        );
      };
      return {
        matches: matches.filter((sequence) => this.#isShown(sequence, showing)),
        meanCosine,
        judge,
      };
    });
  }

  /**
   * Finds the memories that are best by meaning, and by words and age if these count; fewer than are wanted if the
   * log holds fewer. `size` is the number of all that it may show.
   */
  async best(query: BestOptions): Promise<Placement & { readonly size: number }> {
    const { vectors, wanted, minScore, recency, signal, timer = NO_TIMINGS } = query;
    const { log, nearby, size, error, times } = await timer.time("search", () => this.#searchFor(query));
    const wordMatches = await query.wordMatches;
    const condition = this.#condition;
    // An index may have lost the old version of a memory before it was asked, or while it searched, and may not have had
    // the new one.
    const newVersions = {
      numbers: await this.#lastVersions((sequence) => nearby.has(sequence), query),
      accepts: (entry: Projected["text"]) => condition === undefined || matches(condition, entry),
    };
    const ranking = { wanted, minScore, recency };
    const finds = { vectors, nearby, error, times, wordMatches, newVersions, signal, ...ranking };
    return { size, ...(await timer.time("fetch", () => placeBest(log, finds))) };
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
    return new Map(this.changes.map(({ target, how, by }) => [target, how === "deleted" ? undefined : by]));
  }

  #sources({ includeSuperseded = false }: SearchOptions): Promise<Sources> {
    return this.searchable.sources(includeSuperseded);
  }

  /** Looks up the memories that a condition names by id; returns a function that returns all their versions since. */
  async #locate(condition: Condition): Promise<() => Map<unknown, number[]>> {
    const ids = new Set<unknown>();
    for (const { field, test } of testsOf(condition)) {
      if (field === "$id" && test.op === "in") for (const id of test.values) ids.add(id);
    }
    const { logId, options } = this.searchable;
    const found = await mapSome([...ids], LOCATE_MANY, async (id) => {
      return [id, await options.secondaryIndexes.locate({ logId, id: String(id) })] as const;
    });
    // Another process may just have stored one of them.
    if (found.some(([, at = 0]) => at > this.searchable.applied)) await this.searchable.current();
    return () => {
      const replaced = this.changes.filter(({ how }) => how === "replaced");
      const newer = new Map(replaced.map(({ target, by }) => [target, by]));
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
  async #replacedIn(
    selected: Selection,
    { condition, includeSuperseded }: { condition: Condition; includeSuperseded: boolean },
  ): Promise<number[]> {
    const news = await this.#lastVersions((sequence) => selected.has(sequence), { includeSuperseded });
    const matching: number[] = [];
    const { logId } = this.searchable;
    for await (const some of fetchAll(this.#log, { logId, sequences: news, what: "text" })) {
      for (const { sequence, entry } of some) if (matches(condition, entry)) matching.push(sequence);
    }
    return matching.sort((a, b) => a - b);
  }

  /** Lists what has come in the place of other memories since the search began, and was not found. */
  async #lastVersions(isFound: (sequence: number) => boolean, showing: SearchOptions): Promise<number[]> {
    const replacements = this.#replacements;
    if (replacements.size === 0) return [];
    const { indexes } = await this.searchable.sources(false);
    // One memory may supersede several.
    const news = [...new Set(replacements.values())].filter(
      (each) => each !== undefined && !replacements.has(each) && indexes.some((index) => index.has(each)),
    ) as number[];
    // They have left the index of the living, and may not have been in the other one.
    if (showing.includeSuperseded === true) {
      const superseded = this.changes.filter(({ how }) => how === "superseded");
      news.push(
        ...superseded.flatMap(({ target }) => (replacements.get(target) === undefined ? [] : [target])),
      );
    }
    const missing = news.filter((sequence) => !isFound(sequence));
    this.#hasTooMany ||= missing.length > NEW_VERSIONS_MAX;
    return missing.slice(0, NEW_VERSIONS_MAX);
  }

  /** True if a memory that was found may still be shown. */
  #isShown(sequence: number, { includeSuperseded = false }: SearchOptions): boolean {
    const isHidden = ({ target, how }: Change) => target === sequence && how === "superseded";
    return includeSuperseded || !this.changes.some(isHidden);
  }

  /** Searches the vectors, as broadly as the order needs. */
  async #searchFor(query: BestOptions) {
    const { recency, wanted, minScore } = query;
    if (recency === undefined) {
      const limit = wanted + SPARE_CANDIDATES;
      if (query.wordMatches === undefined) return this.#searchShown(query, { limit });
      return this.#searchShown(query, { limit: Math.max(NEAR_CANDIDATES, limit), spare: NEAR_SPARE });
    }
    // If the search is exact, it goes on as far as a memory can be among the best by score and age. Each step finds
    // some times as many, so all steps together take little longer than the last, which finds all memories at most:
    // some ten thousand.
    for (let limit = RECENCY_CANDIDATES; ; limit *= IN_TIME_STEP) {
      const { isExact, ...shown } = await this.#searchShown(query, { limit });
      const { indexes } = await this.#sources(query);
      const { guard, options } = this.searchable;
      const times = await guard(options.indexes.eventTimesOf(indexes, [...shown.nearby.keys()]));
      const found = { ...shown, times, recency, wanted, minScore };
      const nearby = candidatesInTime(found, { isAll: !isExact || shown.nearby.size < limit });
      if (nearby !== undefined) return { ...found, nearby };
    }
  }

  /** Finds the memories nearest to a query that may be shown. */
  async #searchShown(
    query: Pick<Query, "vectors" | "among"> & SearchOptions,
    { limit, spare }: Pick<Query, "limit" | "spare">,
  ) {
    const { vectors, among, signal } = query;
    const { logId, guard } = this.searchable;
    const { clock } = this.searchable.options;
    const { indexes } = await this.#sources(query);
    const before = errorOf(indexes);
    const nearby = await findNearby({ indexes, clock, guard }, { vectors, among, signal, limit, spare });
    for (const sequence of nearby.keys()) if (!this.#isShown(sequence, query)) nearby.delete(sequence);
    const fits = (some: readonly Float32Array[]) => (indexes[0] as Index).fits(some);
    return {
      log: { logId, log: this.#log, clock, fits },
      nearby,
      size: indexes.reduce((sum, index) => sum + index.size, 0),
      // An index may have changed its kind meanwhile.
      error: Math.max(before, errorOf(indexes)),
      times: undefined as ReadonlyMap<number, number> | undefined,
      isExact: indexes.every((each) => each.isExact),
    };
  }
}

function errorOf(all: readonly Index[]): number {
  return Math.max(...all.map(({ error }) => error));
}

/** Makes a log that notes which of the memories that are read are missing in it. */
function watched(log: Pick<Log, "fetch">, missing: Set<number>): Pick<Log, "fetch"> {
  return {
    fetch: async (request) => {
      const fetched = await log.fetch(request);
      if (fetched.found.length + fetched.rest.length === request.sequences.length) return fetched;
      const seen = new Set([...fetched.rest, ...fetched.found.map(({ sequence }) => sequence)]);
      for (const sequence of request.sequences) if (!seen.has(sequence)) missing.add(sequence);
      return fetched;
    },
  };
}
