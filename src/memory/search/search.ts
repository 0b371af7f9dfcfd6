import type { Clock } from "../../concurrency/clock.js";
import { mapSome } from "../../concurrency/map-some.js";
import { unavailable } from "../../errors.js";
import { matches } from "../filter/matches.js";
import { type Condition, type Filter, testsOf } from "../ports/condition.js";
import type { EventOrder, Happened } from "../ports/event-order.js";
import type { Index, Indexes, Selection } from "../ports/index.js";
import type { Log } from "../ports/log.js";
import type { SecondaryIndexes } from "../ports/secondary-indexes.js";
import { type CallStep, NO_TIMINGS, type StepTimer } from "../ports/step-timer.js";
import type { Recency } from "../requests/recall-options.js";
import type { ChangesDuring, RunningSearches } from "../versions/changes-during.js";
import { fetchAll } from "../versions/fetch.js";
import { NEAR_CANDIDATES, NEAR_SPARE, type Placement, placeBest, WORD_CANDIDATES } from "./hybrid.js";
import type { MeanCosine } from "./mean-cosine.js";
import { canOthersBeBest, mayBeBestInTime, type NearInTime } from "./near-in-time.js";
import { findNearby, type NewVersions, type Query, type Searched, scoreBest } from "./nearby.js";
import { RECENCY_CANDIDATES } from "./recency.js";
import type { Scored } from "./score.js";
import { WordMatches } from "./word-matches.js";

/** Maximum number of searches for one recall, if others change what it finds meanwhile. */
const SEARCHES_MAX = 10;
/** Times as many memories as before that are found in the next step of a search in which ages count. */
const IN_TIME_STEP = 4;
/** Maximum number of new versions that one search takes as candidates; it is done again if there are more. */
const NEW_VERSIONS_MAX = 50;
/** Ids that are looked up at a time. */
const LOCATE_MANY = 8;
/** Maximum number of looks for memories by their ids, which others may update meanwhile. */
const LOOKS_MAX = 20;

/** A replica as a search sees it. */
export interface Searchable {
  readonly logId: string;
  readonly log: Pick<Log, "fetch">;
  readonly secondaryIndexes: Pick<SecondaryIndexes, "locate">;
  readonly clock: Clock;
  readonly indexes: Indexes;
  readonly searches: RunningSearches;
  /** Returns the number of the last entry that its indexes have. */
  applied(): number;
  /** Catches up with the log. */
  current(): Promise<void>;
  /** Removes what has expired by now. */
  expire(): void;
  sources(includeSuperseded: boolean): Promise<Sources>;
  /** Awaits the work of an index; if the index fails, the replica is broken. */
  guard<T>(work: Promise<T>): Promise<T>;
}

/** Indexes that are searched together: of the living memories, and of superseded ones if they are wanted. */
export interface Sources {
  readonly indexes: readonly Index[];
  /** Returns the mean cosine to these memories. */
  mean(): Promise<MeanCosine>;
}

/** Memories that a search may show: others' superseded ones are hidden if left out. */
interface Showing {
  readonly includeSuperseded?: boolean | undefined;
}

interface Timed {
  readonly timer?: StepTimer<CallStep> | undefined;
}

export interface SelectOptions extends Showing, Timed {
  readonly signal?: AbortSignal | undefined;
}

export interface MatchWordsOptions extends Showing, Timed {
  readonly text: string;
  readonly among?: Selection | undefined;
  /** Number of memories that the caller wants. */
  readonly wanted?: number | undefined;
}

export interface NearestOptions extends Query, Showing, Timed {}

export interface PlacedOptions extends Pick<Query, "vectors" | "among" | "signal">, Showing, Timed {
  /** Promise of `matchWords`; the vectors are searched meanwhile. */
  readonly wordMatches: Promise<WordMatches>;
  /** Number of memories that the caller wants. */
  readonly wanted: number;
  /** Lowest score that they may have. */
  readonly minScore?: number | undefined;
  /** How much their ages count; not at all when left out. */
  readonly recency?: Recency | undefined;
}

/** A search by meaning in which ages count. */
export type InTimeOptions = Omit<PlacedOptions, "wordMatches" | "recency"> & { readonly recency: Recency };

/**
 * Searches a replica. If others replace or delete meanwhile what it finds, all of it is done again, because the new
 * versions were not there yet.
 *
 * @throws MemoryError `unavailable` if memories are replaced faster than they are found.
 */
export async function searching<T>(searchable: Searchable, work: (search: Search) => Promise<T>): Promise<T> {
  for (let searches = 1; ; searches++) {
    const { found, overtaken } = await searchable.searches.during(async (changes) => {
      const search = new Search(searchable, changes);
      const found = await work(search);
      return { found, overtaken: await search.overtaken() };
    });
    if (overtaken === undefined) return found;
    if (searches < SEARCHES_MAX) continue;
    // A deleted memory was found in vain, but it has no new version that could be missing.
    if (overtaken === "deleted") return found;
    throw unavailable("memories of this namespace are replaced faster than they are found; try again");
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
    private readonly changes: ChangesDuring,
  ) {
    this.#log = watched(searchable.log, this.#missing);
  }

  /** Selects the memories that match a filter; it sees all that `current` has seen. */
  select({ condition }: Filter, options: SelectOptions = {}): Promise<Selection> {
    const { signal, timer = NO_TIMINGS, includeSuperseded = false } = options;
    this.#condition = condition;
    return timer.time("filter", async () => {
      const ids = await this.#locate(condition, includeSuperseded);
      const { indexes } = await this.#sources({ includeSuperseded });
      signal?.throwIfAborted();
      const selected = await this.searchable.guard(
        this.searchable.indexes.select(indexes, { condition, ids }),
      );
      return selected.with(await this.#replacedIn(selected, { condition, includeSuperseded }));
    });
  }

  /** Lists the first of the memories that it selected in the order of their event times. */
  async inEventOrder(selection: Selection, order: EventOrder, showing: Showing): Promise<Happened[]> {
    const { indexes } = await this.#sources(showing);
    return this.searchable.guard(this.searchable.indexes.inEventOrder(indexes, selection, order));
  }

  /** Finds the memories whose words fit a query best; it sees all that `current` has seen. */
  matchWords({
    timer = NO_TIMINGS,
    text,
    among,
    wanted = WORD_CANDIDATES,
    ...showing
  }: MatchWordsOptions): Promise<WordMatches> {
    const { indexes: all, guard } = this.searchable;
    return timer.time("words", async () => {
      const { indexes, mean } = await this.#sources(showing);
      const query = { text, limit: Math.max(WORD_CANDIDATES, wanted), among };
      const [found, meanCosine] = await Promise.all([guard(all.searchWords(indexes, query)), mean()]);
      const matches = found.matches.filter(({ sequence }) => this.#isShown(sequence, showing));
      return new WordMatches(
        (words, sequences) => guard(all.scoreWords(indexes, words, sequences)),
        { ...found, matches },
        meanCosine,
      );
    });
  }

  /**
   * Finds the `limit` memories nearest to any of a query's vectors, with their scores, in no particular
   * order; fewer if the log holds fewer. Some that are not among the `wanted` best may be missing.
   */
  async nearest({ timer = NO_TIMINGS, ...query }: NearestOptions): Promise<Scored[]> {
    const { searched, ...found } = await timer.time("search", () => this.#searchShown(query));
    const newVersions = await this.#newVersionsBeside(found.nearby, query);
    const { vectors, wanted, signal } = query;
    const best = { vectors, wanted, signal, newVersions, ...found };
    return timer.time("fetch", () => scoreBest(searched, best));
  }

  /**
   * Scores the memories of which the best `wanted` by their scores and ages are wanted, in no particular order. Some
   * that are not among these may be missing.
   */
  async nearestInTime({ timer = NO_TIMINGS, ...query }: InTimeOptions): Promise<Scored[]> {
    const { searched, ...found } = await timer.time("search", () => this.#searchInTime(query));
    const newVersions = await this.#newVersionsBeside(found.nearby, query);
    return timer.time("fetch", async () => {
      const { vectors, signal } = query;
      const common = { vectors, signal, error: found.error, newVersions };
      const needed = mayBeBestInTime(found);
      const scored = await scoreBest(searched, { ...common, nearby: needed });
      if (scored.length >= needed.size + newVersions.numbers.length) return scored;
      // Others may be in the places of those that are missing.
      const nearest = new Map([...found.nearby].slice(0, RECENCY_CANDIDATES));
      const rest = new Map([...nearest].filter(([sequence]) => !needed.has(sequence)));
      const none = { ...newVersions, numbers: [] };
      return [...scored, ...(await scoreBest(searched, { ...common, nearby: rest, newVersions: none }))];
    });
  }

  /** Places the memories that are best by meaning and by words together. */
  async placed({ timer = NO_TIMINGS, ...query }: PlacedOptions): Promise<Placement> {
    const { recency } = query;
    const near = { ...query, limit: Math.max(NEAR_CANDIDATES, query.wanted), spare: NEAR_SPARE };
    const { searched, fits, ...found } = await timer.time("search", async () =>
      recency === undefined ? await this.#searchShown(near) : await this.#nearInTime({ ...query, recency }),
    );
    const wordMatches = await query.wordMatches;
    // Both indexes may have lost a memory that was replaced while the slower of them was asked.
    const newVersions = await this.#newVersionsBeside(found.nearby, query);
    return timer.time("fetch", () =>
      placeBest({ ...searched, fits }, { ...query, ...found, wordMatches, newVersions }),
    );
  }

  /** Returns how others have changed what a search found; undefined if they have not. */
  async overtaken(): Promise<"replaced" | "deleted" | undefined> {
    if (this.#hasTooMany || this.changes.isIncomplete) return "replaced";
    if (this.#missing.size === 0) return undefined;
    // The log has the entries that replaced or deleted them. A damaged memory is missing as well.
    await this.searchable.current();
    const { replacements } = this.changes;
    const gone = [...this.#missing].filter((sequence) => replacements.has(sequence));
    if (gone.length === 0) return undefined;
    return gone.some((sequence) => replacements.get(sequence) !== undefined) ? "replaced" : "deleted";
  }

  #sources({ includeSuperseded = false }: Showing): Promise<Sources> {
    this.searchable.expire();
    return this.searchable.sources(includeSuperseded);
  }

  /** Finds the log numbers of the memories that a condition names by id. */
  async #locate(condition: Condition, includeSuperseded: boolean): Promise<Map<unknown, number>> {
    const ids = new Set<unknown>();
    for (const { field, test } of testsOf(condition)) {
      if (field === "$id" && test.op === "in") for (const id of test.values) ids.add(id);
    }
    const { secondaryIndexes, logId } = this.searchable;
    const find = async (id: unknown) =>
      [id, await secondaryIndexes.locate({ logId, id: String(id) })] as const;
    let before = new Map<unknown, number>();
    for (let looks = 1; ids.size > 0 && looks < LOOKS_MAX; looks++) {
      const found = await mapSome([...ids], LOCATE_MANY, find);
      const numbers = new Map(found.flatMap(([id, at]) => (at === undefined ? [] : [[id, at] as const])));
      // Another process may just have stored one of them.
      if (Math.max(0, ...numbers.values()) > this.searchable.applied()) await this.searchable.current();
      const { indexes } = await this.#sources({ includeSuperseded });
      const isKnown = (id: unknown, sequence: number) =>
        before.get(id) === sequence || indexes.some((index) => index.has(sequence));
      before = numbers;
      // Another version may have replaced one that was just found. What is hidden stays so.
      if ([...numbers].every(([id, sequence]) => isKnown(id, sequence))) break;
    }
    return before;
  }

  /** Finds the matching new versions of memories that were replaced before the selection came to them. */
  async #replacedIn(
    selected: Selection,
    { condition, includeSuperseded }: { condition: Condition; includeSuperseded: boolean },
  ): Promise<number[]> {
    const { replacements } = this.changes;
    if (replacements.size === 0) return [];
    const news = await this.#lastVersions((sequence) => selected.has(sequence), { includeSuperseded });
    const matching: number[] = [];
    const { logId } = this.searchable;
    for await (const some of fetchAll(this.#log, { logId, sequences: news, what: "text" })) {
      for (const { sequence, entry } of some) if (matches(condition, entry)) matching.push(sequence);
    }
    return matching.sort((a, b) => a - b);
  }

  /**
   * Lists the new versions of memories that were replaced since the search began: an index may have lost the old
   * one before it was asked, or while it searched, and may not have had the new one.
   */
  async #newVersionsBeside(nearby: ReadonlyMap<number, unknown>, showing: Showing): Promise<NewVersions> {
    const condition = this.#condition;
    return {
      numbers: await this.#lastVersions((sequence) => nearby.has(sequence), showing),
      accepts: (entry) => condition === undefined || matches(condition, entry),
    };
  }

  /** Lists what has come in the place of other memories since the search began, and was not found. */
  async #lastVersions(isFound: (sequence: number) => boolean, showing: Showing): Promise<number[]> {
    const { replacements, superseded } = this.changes;
    if (replacements.size === 0) return [];
    const { indexes } = await this.searchable.sources(false);
    const news = [...replacements.values()].filter(
      (each) => each !== undefined && !replacements.has(each) && indexes.some((index) => index.has(each)),
    ) as number[];
    // They have left the index of the living, and may not have been in the other one.
    if (showing.includeSuperseded === true) {
      news.push(...[...superseded].filter((each) => replacements.get(each) !== undefined));
    }
    const missing = news.filter((sequence) => !isFound(sequence));
    this.#hasTooMany ||= missing.length > NEW_VERSIONS_MAX;
    return missing.slice(0, NEW_VERSIONS_MAX);
  }

  /** True if a memory that was found may still be shown. */
  #isShown(sequence: number, { includeSuperseded = false }: Showing): boolean {
    return includeSuperseded || !this.changes.superseded.has(sequence);
  }

  async #searchShown(query: Query & Showing) {
    const { logId, clock } = this.searchable;
    const { indexes } = await this.#sources(query);
    const searched = {
      logId,
      log: this.#log,
      clock,
      ...together(indexes, (work) => this.searchable.guard(work)),
    };
    const before = errorOf(indexes);
    const nearby = await findNearby(searched, query);
    for (const sequence of nearby.keys()) if (!this.#isShown(sequence, query)) nearby.delete(sequence);
    // An index may have changed its kind meanwhile.
    const error = Math.max(before, errorOf(indexes));
    return {
      searched,
      nearby,
      error,
      isExact: indexes.every((each) => each.isExact),
      fits: (some: readonly Float32Array[]) => (indexes[0] as Index).fits(some),
    };
  }

  /**
   * Searches as far as a memory can be among the best by score and age, if the search is exact: the memories beyond
   * are less near than the last one found, and age adds the weight at most. Each step finds some times as many, so all
   * steps together take little longer than the last, which finds all memories at most: some ten thousand.
   */
  async #searchInTime({ recency, wanted, minScore, ...query }: Omit<InTimeOptions, "timer">) {
    const { guard, indexes: all } = this.searchable;
    for (let limit = RECENCY_CANDIDATES; ; limit *= IN_TIME_STEP) {
      const { isExact, ...shown } = await this.#searchShown({ ...query, limit });
      const { indexes } = await this.#sources(query);
      const times = await guard(all.eventTimesOf(indexes, [...shown.nearby.keys()]));
      const found = { ...shown, times, recency, wanted, minScore } satisfies NearInTime;
      if (!isExact || shown.nearby.size < limit || !canOthersBeBest(found)) return found;
    }
  }

  /** Finds the nearest memories for an order by words as well, and those that age can bring among the best. */
  async #nearInTime(query: Omit<InTimeOptions, "timer">) {
    const found = await this.#searchInTime(query);
    const nearest = [...found.nearby].slice(0, RECENCY_CANDIDATES);
    const { searched, fits, error, times } = found;
    return { searched, fits, nearby: new Map([...nearest, ...mayBeBestInTime(found)]), error, times };
  }
}

/** Searches the vectors of several indexes as one. */
function together(all: readonly Index[], guard: Searchable["guard"]): Pick<Searched, "index" | "search"> {
  return {
    index: {
      size: all.reduce((sum, { size }) => sum + size, 0),
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    },
    search: async (query) => (await Promise.all(all.map((each) => guard(each.search(query))))).flat(),
  };
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
