import { unavailable } from "../../errors.js";
import type { LogFields } from "../fields/log-fields.js";
import type { Selection } from "../fields/selection.js";
import { shownAmong } from "../fields/shown-among.js";
import { matches } from "../filter/matches.js";
import type { Clock } from "../pacing/clock.js";
import { inPieces } from "../pacing/pieces.js";
import type { Condition, Filter } from "../ports/condition.js";
import type { Log } from "../ports/log.js";
import { type CallStep, type Steps, untimed } from "../ports/steps.js";
import type { VectorIndex } from "../ports/vectors.js";
import type { Forgotten, Hidden } from "../versions/hidden.js";
import type { Hearing } from "../words/hearing.js";
import type { LogWords } from "../words/log-words.js";
import { HEARD_CANDIDATES, NEAR_CANDIDATES, NEAR_SPARE, type Placement, placeBest } from "./hybrid.js";
import { findNearby, type NewVersions, type Query, type Searched, scoreBest } from "./nearby.js";
import type { Scored } from "./score.js";

/** Maximum number of searches for one recall, if others change what it finds meanwhile. */
const SEARCHES_MAX = 10;
/** Maximum number of new versions that one search takes as candidates; it is done again if there are more. */
const NEW_VERSIONS_MAX = 50;

/** A replica as a search sees it. */
export interface Searchable {
  readonly logId: string;
  readonly log: Pick<Log, "fetch">;
  readonly index: VectorIndex;
  readonly clock: Clock;
  readonly words: Pick<LogWords, "hear">;
  readonly fields: Pick<LogFields, "select">;
  readonly hidden: Hidden;
  /** Answers the number of the last entry that its indexes have. */
  applied(): number;
  /** Catches up with the log. */
  current(): Promise<void>;
  /** Searches the vectors, and fails if their index has failed meanwhile. */
  readonly search: VectorIndex["search"];
}

/** Memories that a search may show: others' superseded ones are hidden if left out. */
interface Showing {
  readonly includeSuperseded?: boolean | undefined;
}

interface Timed {
  readonly steps?: Steps<CallStep> | undefined;
}

export interface SelectOptions extends Showing, Timed {
  readonly signal?: AbortSignal | undefined;
}

export interface HearOptions extends Showing, Timed {
  readonly text: string;
  readonly among?: Selection | undefined;
  /** Number of memories that the caller wants. */
  readonly wanted?: number | undefined;
}

export interface NearestOptions extends Query, Showing, Timed {}

export interface PlacedOptions extends Pick<Query, "vectors" | "among" | "signal">, Showing, Timed {
  /** Promise of `hear`; the vectors are searched meanwhile. */
  readonly hearing: Promise<Hearing>;
  /** Number of memories that the caller wants. */
  readonly wanted: number;
  /** Lowest score that they may have. */
  readonly minScore?: number | undefined;
}

/**
 * Searches a replica. If others replace or delete meanwhile what it finds, all of it is done again, because the new
 * versions were not there yet.
 *
 * @throws MemoryError `unavailable` if memories are replaced faster than they are found.
 */
export async function searching<T>(of: Searchable, work: (search: Search) => Promise<T>): Promise<T> {
  for (let searches = 1; ; searches++) {
    const { found, overtaken } = await of.hidden.during(async (forgotten) => {
      const search = new Search(of, forgotten);
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
  readonly #searched: Searched;
  /** Condition of the memories that it selected. */
  #condition: Condition | undefined;

  constructor(
    private readonly of: Searchable,
    private readonly forgotten: Forgotten,
  ) {
    this.#searched = { ...of, log: watched(of.log, this.#missing) };
  }

  /**
   * Selects the memories that match a filter; it sees all that `current` has seen. The first call for a log
   * builds an index of its fields.
   */
  select({ condition }: Filter, options: SelectOptions = {}): Promise<Selection> {
    const { signal, steps = untimed, includeSuperseded = false } = options;
    const { fields, clock } = this.of;
    this.#condition = condition;
    return steps.time("filter", async () => {
      let selected = await fields.select({ condition, until: this.of.applied(), signal });
      // An id may belong to a version that another process has just stored.
      if ((selected.last ?? 0) > this.of.applied()) await this.of.current();
      const viewing = { nowMs: clock.wallMs(), includeSuperseded };
      for (const hidden of this.#hidden) {
        if (!hidden.isEmpty) selected = await inPieces(shownAmong(selected, { hidden, viewing }), clock);
      }
      return selected;
    });
  }

  /**
   * Finds the memories whose words fit a query best; it sees all that `current` has seen. The first call for
   * a log builds an index of its words.
   */
  hear({ steps = untimed, ...hearing }: HearOptions): Promise<Hearing> {
    return steps.time("words", () => this.#hearShown({ ...hearing, until: this.of.applied() }));
  }

  /**
   * Finds the `limit` memories nearest to any of a query's vectors, with their scores, in no particular
   * order; fewer if the log holds fewer. Some that are not among the `wanted` best may be missing.
   */
  async nearest({ steps = untimed, ...query }: NearestOptions): Promise<Scored[]> {
    const found = await steps.time("search", () => this.#searchShown(query));
    const newVersions = this.#newVersionsBeside(found.nearby, query);
    return steps.time("fetch", () => scoreBest(this.#searched, { ...query, ...found, newVersions }));
  }

  /** Places the memories that are best by meaning and by words together. */
  async placed({ steps = untimed, ...query }: PlacedOptions): Promise<Placement> {
    const near = { ...query, limit: Math.max(NEAR_CANDIDATES, query.wanted), spare: NEAR_SPARE };
    const nearby = await steps.time("search", () => this.#searchShown(near));
    const hearing = await query.hearing;
    // Both indexes may have lost a memory that was replaced while the slower of them was asked.
    const newVersions = this.#newVersionsBeside(nearby.nearby, query);
    const found = { ...nearby, hearing, newVersions };
    return steps.time("fetch", () =>
      placeBest({ ...this.#searched, index: this.of.index }, { ...query, ...found }),
    );
  }

  /** Tells how others have changed what it found; undefined if they have not. */
  async overtaken(): Promise<"replaced" | "deleted" | undefined> {
    if (this.#hasTooMany || this.forgotten.isIncomplete) return "replaced";
    if (this.#missing.size === 0) return undefined;
    // The log has the entries that replaced or deleted them. A damaged memory is missing as well.
    await this.of.current();
    const { versions } = this.forgotten;
    const gone = [...this.#missing].filter((sequence) => versions.has(sequence));
    if (gone.length === 0) return undefined;
    return gone.some((sequence) => versions.get(sequence) !== undefined) ? "replaced" : "deleted";
  }

  /**
   * Lists the new versions of memories that were replaced since the search began: an index may have lost the old
   * one before it was asked, or while it searched, and may not have had the new one.
   */
  #newVersionsBeside(nearby: ReadonlyMap<number, unknown>, showing: Showing): NewVersions {
    const { versions } = this.forgotten;
    const all = [...versions.values()].filter((version) => version !== undefined);
    const last = all.filter((version) => !versions.has(version) && !nearby.has(version));
    this.#hasTooMany ||= last.length > NEW_VERSIONS_MAX;
    const condition = this.#condition;
    return {
      numbers: last.slice(0, NEW_VERSIONS_MAX).filter((version) => this.#isShown(version, showing)),
      accepts: (entry) => condition === undefined || matches(condition, entry),
    };
  }

  /** Lists what hides memories now, and what did since the search began. */
  get #hidden(): readonly Hidden[] {
    return [this.of.hidden, this.forgotten.hidden];
  }

  get #hidesNothing(): boolean {
    return this.#hidden.every(({ isEmpty }) => isEmpty);
  }

  #isShown(sequence: number, { includeSuperseded = false }: Showing): boolean {
    const viewing = { nowMs: this.of.clock.wallMs(), includeSuperseded };
    return this.#hidden.every((hidden) => hidden.isShown(sequence, viewing));
  }

  /** Searches further until enough of what is found may be shown. */
  async #searchShown(query: Query & Showing) {
    const { index } = this.of;
    for (let limit = query.limit; ; limit *= 2) {
      const before = index.error;
      const nearby = await findNearby(this.#searched, { ...query, limit });
      // The index may have changed its kind meanwhile.
      const error = Math.max(before, index.error);
      if (this.#hidesNothing) return { nearby, error };
      const shown = [...nearby].filter(([sequence]) => this.#isShown(sequence, query));
      const isAll = nearby.size < limit || limit >= index.size;
      if (!isAll && shown.length < query.limit) continue;
      return { nearby: new Map(shown.slice(0, query.limit)), error };
    }
  }

  async #hearShown({ text, among, until, wanted = 0, ...showing }: HearOptions & { readonly until: number }) {
    const candidates = Math.max(HEARD_CANDIDATES, wanted);
    for (let limit = candidates; ; limit *= 2) {
      const hearing = await this.of.words.hear({ text, limit, among: among?.sequences, until });
      // Words may have read on further, and what of that is hidden is not known here yet.
      if (hearing.heard.some((sequence) => sequence > this.of.applied())) await this.of.current();
      if (this.#hidesNothing) return hearing;
      const shown = hearing.heard.filter((sequence) => this.#isShown(sequence, showing));
      if (hearing.heard.length >= limit && shown.length < candidates) continue;
      return hearing.of(new Set(shown.slice(0, candidates)));
    }
  }
}

/** Makes a log that notes which of the memories that are read are missing in it. */
function watched(log: Pick<Log, "fetch">, missing: Set<number>): Pick<Log, "fetch"> {
  return {
    fetch: async (of) => {
      const fetched = await log.fetch(of);
      if (fetched.found.length + fetched.rest.length === of.sequences.length) return fetched;
      const seen = new Set([...fetched.rest, ...fetched.found.map(({ sequence }) => sequence)]);
      for (const sequence of of.sequences) if (!seen.has(sequence)) missing.add(sequence);
      return fetched;
    },
  };
}
