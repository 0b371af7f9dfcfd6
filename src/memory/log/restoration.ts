import type { Clock } from "../../concurrency/clock.js";
import type { Gap, Index, RestoredIndex } from "../ports/index.js";
import { isMemory, type Log } from "../ports/log.js";
import type { SecondaryIndexes } from "../ports/secondary-indexes.js";
import { NO_TIMINGS, type SharedStep, type StepTimer } from "../ports/step-timer.js";
import type { Mark, Restored, VectorIndex } from "../ports/vectors.js";
import { shownOf } from "../versions/showing.js";

/** Entries read at a time. */
const READ_MANY = 512;

export interface RestorationOptions {
  readonly logId: string;
  readonly log: Pick<Log, "read" | "fetch">;
  readonly secondaryIndexes: Pick<SecondaryIndexes, "findReplacements">;
  readonly vectors: Pick<VectorIndex, "restore" | "reset">;
  readonly index: Pick<Index, "restore" | "reset" | "gap" | "fill">;
  readonly clock: Clock;
  readonly timer?: StepTimer<SharedStep> | undefined;
}

/** Numbers of the last entries that the files of each part cover; 0 without files. */
export interface Covered {
  readonly vectors: number;
  readonly index: number;
}

/** Fills the indexes of a log from their files, and trusts those only as far as the log confirms them. */
export class Restoration {
  /** What was read from files, which is read once. */
  #restoredVectors: { readonly stored: Restored | undefined } | undefined;
  #restoredIndex: { readonly stored: RestoredIndex | undefined } | undefined;
  /** What the log has confirmed of it. */
  #vectors: number | undefined;
  #index: number | undefined;
  /** Memories that were removed from the files of a part, and whose removal was not read in the log yet. */
  readonly #unconfirmed = { vectors: new Set<number>(), index: new Set<number>() };

  constructor(private readonly options: RestorationOptions) {}

  /** Reads the files. If reading the log fails, the next call goes on where this one ended. */
  async begin(): Promise<Covered> {
    this.#vectors ??= await this.#restoreVectors();
    this.#index ??= await this.#restoreIndex();
    for (let { gap } = this.options.index; gap !== undefined; { gap } = this.options.index) {
      await this.#fill(gap);
      await this.options.clock.yield();
    }
    return { vectors: this.#vectors, index: this.#index };
  }

  /** Applies a removal; returns whether the files of vectors lack its memory already. */
  confirm(target: number): boolean {
    this.#unconfirmed.index.delete(target);
    return this.#unconfirmed.vectors.delete(target);
  }

  /**
   * Returns, at the end of the log, whether what was removed from the files is not shown by the log either: otherwise
   * the database is an older copy of itself. The indexes are emptied then, and must be filled from the log.
   */
  async end(): Promise<boolean> {
    const { logId, log, secondaryIndexes, clock, vectors, index } = this.options;
    const { vectors: ofVectors, index: ofIndex } = this.#unconfirmed;
    const showing = { secondaryIndexes, logId, nowMs: clock.wallMs(), includeSuperseded: false };
    let isOlder = false;
    for (let rest = [...new Set([...ofVectors, ...ofIndex])]; rest.length > 0 && !isOlder; ) {
      const fetched = await log.fetch({ logId, sequences: rest, what: "head" });
      rest = [...fetched.rest];
      isOlder = (await shownOf(showing, fetched.found)).length > 0;
    }
    if (isOlder) await Promise.all([vectors.reset(), index.reset()]);
    ofVectors.clear();
    ofIndex.clear();
    return !isOlder;
  }

  async #restoreVectors(): Promise<number> {
    const { vectors, timer = NO_TIMINGS } = this.options;
    this.#restoredVectors ??= { stored: await timer.time("restore", () => vectors.restore()) };
    const { stored } = this.#restoredVectors;
    if (stored === undefined) return 0;
    if (!(await this.#isOurs(stored))) {
      await vectors.reset();
      return 0;
    }
    for (const sequence of stored.wiped) this.#unconfirmed.vectors.add(sequence);
    return stored.sequence;
  }

  async #restoreIndex(): Promise<number> {
    const { index, timer = NO_TIMINGS } = this.options;
    this.#restoredIndex ??= { stored: await timer.time("restore", () => index.restore()) };
    const { stored } = this.#restoredIndex;
    if (stored === undefined) return 0;
    for (const mark of stored.marks) {
      if (await this.#isOurs(mark)) continue;
      await index.reset();
      return 0;
    }
    for (const sequence of stored.removed) this.#unconfirmed.index.add(sequence);
    return stored.upto;
  }

  async #isOurs({ sequence, opId }: Mark): Promise<boolean> {
    const { logId, log } = this.options;
    const [at] = (await log.read({ logId, from: sequence, limit: 1, what: "head" })).entries;
    return at?.sequence === sequence && at.entry.opId === opId;
  }

  /** Reads some of the memories that live in a gap between files. */
  async #fill({ after, upto }: Gap): Promise<void> {
    const { logId, log, secondaryIndexes, clock, index } = this.options;
    const limit = Math.min(READ_MANY, upto - after);
    const { entries } = await log.read({ logId, from: after + 1, limit, what: "text" });
    const memories = entries.filter(isMemory);
    const showing = { secondaryIndexes, logId, nowMs: clock.wallMs(), includeSuperseded: false };
    const living = await shownOf(showing, memories);
    const rows = living.map(({ sequence, entry }) => ({ sequence, memory: entry }));
    await index.fill(rows, entries.at(-1)?.sequence ?? upto);
  }
}
