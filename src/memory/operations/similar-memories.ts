import { TimeSlice } from "../../concurrency/time-slices.js";
import type { Replica } from "../log/replica.js";
import { allEntries } from "../log/walk.js";
import type { Similar } from "../ports/claims.js";
import type { Sequenced, Stored } from "../ports/log.js";
import type { CallStep, StepTimer } from "../ports/step-timer.js";
import { vectorsOf } from "../ports/windows.js";
import { likeness, scoreOf } from "../search/score.js";
import { LogAdvancedError, type LogView } from "../versions/condition.js";
import { type CurrentVersion, currentVersionOf } from "../versions/current-version.js";
import { fetchAll } from "../versions/fetch.js";

/** Maximum number of similar memories that a store lists. */
const LISTED_MAX = 3;
/** Memories that a search looks for if they are only listed: one of them may be the version that is replaced. */
const WANTED = LISTED_MAX + 1;
/** Memories that it looks for if the store depends on one that is like the new memory as a whole and still there. */
const WANTED_TO_DECIDE = 16;
/** Maximum number of candidates that are held, whatever others store while this store waits. */
const HELD_MAX = 64;
/** Entries read at a time. */
const READ_MAX = 64;

interface SimilarTo {
  /** The memory that is about to be stored. */
  readonly memory: Stored;
  /** Lowest score of a similar memory. */
  readonly above: number;
  /** True if the store depends on them; else they are only listed. */
  readonly decides: boolean;
  /** Ids of memories on which it does not depend, because it supersedes them in any case. */
  readonly except: readonly string[];
  readonly timer: StepTimer<CallStep>;
  readonly signal: AbortSignal | undefined;
}

interface SimilarMemory extends Similar {
  readonly sequence: number;
  /** How much the whole texts are alike; `score` is that of their most similar parts. */
  readonly likeness: number;
}

/**
 * Memories that are like one that is about to be stored. A search finds those that are in the log by then; what
 * others append later is compared when the store is decided, so that of two stores at once the second finds the
 * first.
 */
export class SimilarMemories {
  #found: SimilarMemory[] = [];
  /** Number of the last entry that was compared. */
  #until = 0;
  /** True if the search may have left some out. */
  #isCut = false;
  readonly #timeSlice = new TimeSlice();

  constructor(
    private readonly replica: Replica,
    private readonly to: SimilarTo,
  ) {}

  /** The most similar of those that were compared, best first, without the memory's own older version. */
  listedBeside(own: string | undefined): readonly Similar[] {
    const others = this.#found.filter(({ id }) => id !== own);
    const best = others.sort((a, b) => b.score - a.score || a.sequence - b.sequence);
    return best.slice(0, LISTED_MAX).map(({ id, text, score }) => ({ id, text, score }));
  }

  /**
   * Finds the memory that is most like the new one and stands in the log before a number; undefined if there is
   * none.
   *
   * @throws LogAdvancedError
   */
  async mostSimilar(view: LogView): Promise<CurrentVersion | undefined> {
    await this.#readUntil(view);
    const { above, except } = this.to;
    const alike = this.#found.filter(({ id, likeness }) => likeness >= above && !except.includes(id));
    alike.sort((a, b) => b.likeness - a.likeness || a.sequence - b.sequence);
    let isGone = false;
    for (const { id, sequence } of alike) {
      const current = await currentVersionOf(view, id);
      if (current?.sequence === sequence && current.supersededBy === undefined) return current;
      // It was deleted, superseded or replaced; a later version has an entry of its own.
      this.#found = this.#found.filter((each) => each.sequence !== sequence);
      isGone = true;
    }
    if (!isGone || !this.#isCut) return undefined;
    await this.search();
    throw new LogAdvancedError();
  }

  /** Finds those that are in the log now. It must end before any other method is called. */
  async search(): Promise<void> {
    const { memory, above, decides, timer, signal } = this.to;
    const wanted = decides ? WANTED_TO_DECIDE : WANTED;
    await timer.time("catch_up", () => this.replica.current());
    // Before the search, which may see more: what is compared twice does no harm.
    this.#until = this.replica.applied;
    const query = { vectors: vectorsOf(memory), wanted, minScore: above };
    const { ranked: near } = await this.replica.searching((search) => search.best(query), { timer, signal });
    this.#isCut = near.length === wanted;
    this.#found = [];
    if (!decides) {
      this.#found = near.map(({ sequence, entry: { id, text }, score }) => {
        return { id, text, score, sequence, likeness: 0 };
      });
      return;
    }
    // The search has released the vectors.
    const { logId, options } = this.replica;
    const scores = new Map(near.map(({ sequence, score }) => [sequence, score]));
    for await (const some of fetchAll(options.log, {
      logId,
      sequences: [...scores.keys()],
      projection: "all",
    }))
      for (const each of some) await this.#compare(each, scores.get(each.sequence));
  }

  /** Compares the entries that were appended after the search. */
  async #readUntil({ log, logId, from }: LogView): Promise<void> {
    const range = {
      logId,
      from: this.#until + 1,
      upto: from - 1,
      limit: READ_MAX,
      projection: "all",
    } as const;
    for await (const entries of allEntries(log, range)) {
      for (const { sequence, entry } of entries)
        if (entry.op === "store") await this.#compare({ sequence, entry });
      this.#until += entries.length;
    }
    if (this.#until + 1 < from) throw new LogAdvancedError();
  }

  /** Compares an entry, whose score may be known, and notes it if it is similar enough. */
  async #compare({ sequence, entry }: Sequenced<Stored>, known?: number): Promise<void> {
    const { memory, above } = this.to;
    if (entry.opId === memory.opId) return;
    const [own, its] = [vectorsOf(memory), vectorsOf(entry)];
    const score = known ?? (await this.#scoreOf(own, its));
    if (score < above || this.#found.some((each) => each.sequence === sequence)) return;
    await this.#timeSlice.endIfOver();
    const { id, text } = entry;
    this.#found.push({ id, text, score, sequence, likeness: likeness(own, its) });
    if (this.#found.length <= HELD_MAX) return;
    this.#found.sort((a, b) => b.likeness - a.likeness || a.sequence - b.sequence).pop();
    this.#isCut = true;
  }

  /** Scores two texts. Other work runs meanwhile: long ones have a million pairs of windows. */
  async #scoreOf(some: readonly Float32Array[], others: readonly Float32Array[]): Promise<number> {
    let score = 0;
    for (const each of some) {
      await this.#timeSlice.endIfOver();
      score = Math.max(score, scoreOf([each], others));
    }
    return score;
  }
}
