import type { Gap, Index, IndexRow, RestoredIndex } from "../ports/index.js";
import { entryAt, forgottenBy, isMemory, type Log } from "../ports/log.js";
import type { DomainPorts } from "../ports/ports.js";
import { NO_TIMINGS, type SharedStep, type StepTimer } from "../ports/step-timer.js";
import { vectorsOf } from "../ports/windows.js";
import { fetchShown, shownOf } from "../versions/fetch.js";
import { allEntries } from "./walk.js";

/** Time that the clock may be set back without an index being built again: less is hardly seen. */
export const CLOCK_BACK_MS = 1_000;

/** Entries read at a time. */
const READ_MANY = 512;

interface RestorationOptions extends Pick<DomainPorts, "log" | "secondaryIndexes" | "clock"> {
  readonly logId: string;
  readonly index: Index;
  readonly timer?: StepTimer<SharedStep> | undefined;
  /** Called with the number of entries of a gap before they are added; it throws if no more may be. */
  onRead(entries: number): void;
  /** Removes memories from the index. */
  remove(sequences: readonly number[]): void;
  /** Awaits the work of the index; if that fails, another one must replace it. */
  guard<T>(work: Promise<T>): Promise<T>;
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
   * the database is an older copy of itself. The index must be emptied then, and filled from the log.
   */
  async end(): Promise<boolean> {
    const { logId } = this.options;
    const sequences = [...this.#unconfirmed];
    let isOlder = false;
    for await (const shown of fetchShown(this.options, { logId, sequences, what: "head" })) {
      isOlder = shown.length > 0;
      if (isOlder) break;
    }
    this.#unconfirmed.clear();
    return !isOlder;
  }

  async #restore(): Promise<number> {
    const { log, logId, index, guard, clock, timer = NO_TIMINGS } = this.options;
    this.#restored ??= { stored: await timer.time("restore", () => guard(index.restore())) };
    const { stored } = this.#restored;
    if (stored === undefined) return 0;
    // While the clock was ahead, the files lost what has not expired.
    if (stored.expiredMs > clock.wallMs() + CLOCK_BACK_MS) {
      await index.reset();
      return 0;
    }
    for (const { sequence, opId } of stored.marks) {
      if ((await entryAt(log, logId, sequence))?.opId === opId) continue;
      await index.reset();
      return 0;
    }
    for (const sequence of stored.removed) this.#unconfirmed.add(sequence);
    await this.#removeBetween(stored.applied, stored.upto);
    return stored.upto;
  }

  /** Removes what the log has removed behind one entry, up to another: some of the files may be older than the others. */
  async #removeBetween(after: number, upto: number): Promise<void> {
    const { logId, log, clock, remove } = this.options;
    const range = { logId, from: after + 1, upto, limit: READ_MANY, what: "head" } as const;
    for await (const entries of allEntries(log, range)) {
      remove(entries.flatMap(({ entry }) => forgottenBy(entry) ?? []));
      await clock.yield();
    }
  }

  /** Fills a gap with some of the memories that live in it. */
  async #fill({ part, after, upto }: Gap): Promise<void> {
    const { logId, log, index, onRead } = this.options;
    const limit = Math.min(READ_MANY, upto - after);
    const what = part === "words" ? "text" : "vectors";
    const { entries } = await log.read({ logId, from: after + 1, limit, what });
    await noteEnd(log, logId, index);
    const rows: IndexRow[] = [];
    for (const { sequence, entry } of await shownOf(this.options, { logId }, entries.filter(isMemory))) {
      if (!("vectors" in entry)) rows.push({ sequence, memory: entry });
      else if (index.fits(vectorsOf(entry))) rows.push({ sequence, vectors: vectorsOf(entry) });
    }
    onRead(entries.length);
    await index.fill(rows, entries.at(-1)?.sequence ?? upto);
  }
}

/** Notes the end of a log, some entries of which were read: what is behind them may have erased some of them before. */
export async function noteEnd(log: Pick<Log, "last">, logId: string, index: Index): Promise<void> {
  const last = await log.last(logId);
  if (last !== undefined) index.noteEnd({ sequence: last.sequence, opId: last.entry.opId });
}
