import type { Clock } from "../../concurrency/clock.js";
import type { Gap, Index, Mark, RestoredIndex } from "../ports/index.js";
import { isMemory, type Log, type Projected, type Sequenced } from "../ports/log.js";
import type { SecondaryIndexes } from "../ports/secondary-indexes.js";
import { NO_TIMINGS, type SharedStep, type StepTimer } from "../ports/step-timer.js";
import { vectorsOf } from "../ports/windows.js";
import { shownOf } from "../versions/fetch.js";

/** Entries read at a time. */
const READ_MANY = 512;

export interface RestorationOptions {
  readonly logId: string;
  readonly log: Pick<Log, "read" | "fetch">;
  readonly secondaryIndexes: Pick<SecondaryIndexes, "findReplacements">;
  readonly index: Pick<Index, "restore" | "reset" | "gap" | "fill" | "fits">;
  readonly clock: Clock;
  readonly timer?: StepTimer<SharedStep> | undefined;
  /** Called with the number of entries of a gap before they are added; it throws if no more may be. */
  onRead(entries: number): void;
}

/** Fills the index of a log from its files, and trusts those only as far as the log confirms them. */
export class Restoration {
  /** What was read from files, which is read once. */
  #restored: { readonly stored: RestoredIndex | undefined } | undefined;
  /** Number of the last entry that the files cover, once the log has confirmed their marks. */
  #upto: number | undefined;
  /** Memories that were removed from the files, and whose removal was not read in the log yet. */
  readonly #unconfirmed = new Set<number>();

  constructor(private readonly options: RestorationOptions) {}

  /**
   * Reads the files; returns the number of the last entry that the index has then, 0 without files. If reading the log
   * fails, the next call goes on where this one ended.
   */
  async begin(): Promise<number> {
    const { index, clock } = this.options;
    this.#upto ??= await this.#restore();
    for (let { gap } = index; gap !== undefined; { gap } = index) {
      await this.#fill(gap);
      await clock.yield();
    }
    return this.#upto;
  }

  /** Notes that the log has a removal. */
  confirm(targets: readonly number[]): void {
    for (const target of targets) this.#unconfirmed.delete(target);
  }

  /**
   * Returns, at the end of the log, whether what was removed from the files is not shown by the log either: otherwise
   * the database is an older copy of itself. The index is emptied then, and must be filled from the log.
   */
  async end(): Promise<boolean> {
    const { logId, log, secondaryIndexes, clock, index } = this.options;
    const showing = { secondaryIndexes, logId, nowMs: clock.wallMs(), includeSuperseded: false };
    let isOlder = false;
    for (let rest = [...this.#unconfirmed]; rest.length > 0 && !isOlder; ) {
      const fetched = await log.fetch({ logId, sequences: rest, what: "head" });
      rest = [...fetched.rest];
      isOlder = (await shownOf(showing, fetched.found)).length > 0;
    }
    if (isOlder) await index.reset();
    this.#unconfirmed.clear();
    return !isOlder;
  }

  async #restore(): Promise<number> {
    const { index, timer = NO_TIMINGS } = this.options;
    this.#restored ??= { stored: await timer.time("restore", () => index.restore()) };
    const { stored } = this.#restored;
    if (stored === undefined) return 0;
    for (const mark of stored.marks) {
      if (await this.#isOurs(mark)) continue;
      await index.reset();
      return 0;
    }
    for (const sequence of stored.removed) this.#unconfirmed.add(sequence);
    return stored.upto;
  }

  async #isOurs({ sequence, opId }: Mark): Promise<boolean> {
    const { logId, log } = this.options;
    const [at] = (await log.read({ logId, from: sequence, limit: 1, what: "head" })).entries;
    return at?.sequence === sequence && at.entry.opId === opId;
  }

  /** Reads some of the memories that live in a gap between files. */
  async #fill({ part, after, upto }: Gap): Promise<void> {
    const { index, onRead } = this.options;
    const at = { from: after + 1, limit: Math.min(READ_MANY, upto - after) };
    const read = await (part === "words" ? this.#readText(at) : this.#readVectors(at));
    onRead(read.entries);
    await index.fill(read.rows, read.last ?? upto);
  }

  async #readText(at: { from: number; limit: number }) {
    const { logId, log } = this.options;
    const { entries } = await log.read({ logId, ...at, what: "text" });
    const living = await this.#living(entries.filter(isMemory));
    const rows = living.map(({ sequence, entry }) => ({ sequence, opId: entry.opId, memory: entry }));
    return { entries: entries.length, rows, last: entries.at(-1)?.sequence };
  }

  async #readVectors(at: { from: number; limit: number }) {
    const { logId, log, index } = this.options;
    const { entries } = await log.read({ logId, ...at, what: "vectors" });
    const living = await this.#living(entries.filter(isMemory));
    const rows = living.map(({ sequence, entry }) => {
      return { sequence, opId: entry.opId, vectors: vectorsOf(entry) };
    });
    const fitting = rows.filter(({ vectors }) => index.fits(vectors));
    return { entries: entries.length, rows: fitting, last: entries.at(-1)?.sequence };
  }

  #living<E extends Projected["head"]>(memories: readonly Sequenced<E>[]) {
    const { logId, secondaryIndexes, clock } = this.options;
    return shownOf({ secondaryIndexes, logId, nowMs: clock.wallMs(), includeSuperseded: false }, memories);
  }
}
