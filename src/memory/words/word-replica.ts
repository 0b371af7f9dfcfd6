import { MemoryError, unavailable } from "../../errors.js";
import type { Clock } from "../pacing/clock.js";
import { coalesce } from "../pacing/coalesce.js";
import { type Entry, forgottenBy, type Log, type Numbered } from "../ports/log.js";
import type { SharedStep, Steps } from "../ports/steps.js";
import type { TextRow, WordIndex } from "../ports/words.js";
import { Restoration } from "../reading/restoration.js";
import { Hearing } from "./hearing.js";
import { SampledMean } from "./sampled-mean.js";

/** Entries read at a time; a slice's bytes bound them too. */
const READ_MANY = 512;
/** Requests that may wait for the index before new entries are left to the next catch-up. */
const WAITING_MAX = 8;
/** Changes after which a large index's snapshot is written again, as a share of its memories. */
const SNAPSHOT_SHARE = 0.25;

export interface WordReplicaOptions {
  readonly logId: string;
  readonly log: Pick<Log, "read" | "fetch">;
  readonly index: WordIndex;
  readonly clock: Clock;
  readonly steps?: Steps<SharedStep> | undefined;
  /** Tells whether a memory's vectors can be compared with those of the log's model. */
  fits(vectors: readonly Float32Array[]): boolean;
  /** Erases the snapshot, because it is in doubt. */
  discard(): Promise<void>;
  /** Called when a snapshot cannot be written or erased. */
  onTrouble(error: unknown): void;
}

/** Question for the memories that have some words. */
export interface Listening {
  readonly text: string;
  readonly limit: number;
  /** Log numbers of the memories that may be found, in order; all when left out. */
  readonly among?: Float64Array | undefined;
  /** Number of the log up to which all entries must be seen. */
  readonly until: number;
}

/**
 * One process's view of the words of one log: an index that has applied the log up to a number. It reads the
 * log itself when it is asked, and takes the entries that it is handed meanwhile if none is missing before.
 */
export class WordReplica {
  /** True if its index failed: a new one must replace it. */
  broken = false;
  #applied = 0;
  /** Operation id of the last entry applied. */
  #opId = "";
  /** Number up to which calls want the log applied. */
  #wanted = 0;
  /** True once it has read its log as far as the first call wanted. */
  #isBuilt = false;
  #stopped = false;
  /** Outcome of the entries that were read last. */
  #taking: Promise<void> = Promise.resolve();
  /** Number of the last entry in the snapshot, or in the last attempt to write one. */
  #kept = 0;
  #keeping: Promise<void> | undefined;
  /** Memories to forget that it has not read yet. */
  readonly #forgotten = new Set<number>();
  /** Outcome of all changes requested so far. */
  #changed: Promise<void> = Promise.resolve();
  /** Counts the changes, because the sample of living memories depends on them alone. */
  #changes = 0;
  readonly #mean: SampledMean;
  readonly #restoration: Restoration;
  readonly #catchUpOnce = coalesce(() => this.#catchUp());

  constructor(private readonly options: WordReplicaOptions) {
    this.#mean = new SampledMean({ ...options, sample: () => this.#guard(options.index.sample()) });
    this.#restoration = new Restoration(options);
    options.index.onSnapshotLost = () => {
      this.#kept = 0;
    };
  }

  get bytes(): number {
    return this.options.index.bytes + this.#mean.bytes;
  }

  get waiting(): number {
    return this.options.index.waiting;
  }

  /** Tells whether it has applied the log up to this number. */
  isAt(sequence: number): boolean {
    return this.#isBuilt && this.#applied >= sequence;
  }

  /** Finds the memories whose words fit a text best, among all up to a number of the log. */
  async hear({ text, limit, among, until }: Listening): Promise<Hearing> {
    await this.#current(until);
    const { index } = this.options;
    const [found, mean] = await Promise.all([
      this.#guard(index.search({ text, limit, among })),
      this.#mean.of(this.#changes),
      this.#changed,
    ]);
    return new Hearing({ score: (query, some) => this.#guard(index.score(query, some)) }, found, mean);
  }

  /** Takes entries that follow those it has applied; others are left to the next catch-up. */
  offer(entries: readonly Numbered<Entry<"head">>[]): void {
    const isNext = this.#isBuilt && entries[0]?.sequence === this.#applied + 1;
    if (!isNext || this.waiting >= WAITING_MAX || !haveTexts(entries)) return;
    // A failure reaches the next call.
    this.#take(entries).catch(() => {});
    this.#keepIfDue();
  }

  /** Removes memories, which may be entries that it has not read yet; resolves when no search finds them. */
  async forget(sequences: readonly number[]): Promise<void> {
    for (const sequence of sequences) if (sequence > this.#applied) this.#forgotten.add(sequence);
    await this.#change(() => this.options.index.remove(sequences));
  }

  /** Stops a catch-up that may take long; resolves when none runs. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#catchUpOnce().catch(() => {});
  }

  /** Closes the index; `keeps` says whether a snapshot is of use. */
  async close({ keeps }: { keeps: boolean }): Promise<void> {
    await this.stop();
    await this.#keeping;
    const isNews = this.#isBuilt && !this.broken && this.#applied > this.#kept;
    if (keeps && isNews && this.options.index.large) await this.#keep();
    await this.options.index.close();
  }

  async #current(until: number): Promise<void> {
    this.#wanted = Math.max(this.#wanted, until);
    if (!this.isAt(until)) await this.#catchUpOnce();
  }

  /** Reads to the log's end, where the new versions are of memories that it finds erased. */
  async #catchUp(): Promise<void> {
    try {
      for (let isAtEnd = false; ; ) {
        if (this.#stopped) throw unavailable("the service is stopping");
        if (this.#restoration.pending) await this.#restore();
        if (!isAtEnd || this.#applied < this.#wanted) isAtEnd = await this.#read();
        else if (await this.#isConfirmed()) break;
        // A long log is read in slices, so that other calls are served in between.
        await this.options.clock.yield();
      }
    } finally {
      await this.#taking.catch(() => {});
    }
    this.#isBuilt = true;
    this.#keepIfDue();
  }

  /** Begins where the snapshot ends, if it was made of this log. */
  async #restore(): Promise<void> {
    const kept = await this.#restoration.begin();
    if (kept === undefined) await this.options.discard().catch((error) => this.options.onTrouble(error));
    else [this.#applied, this.#opId, this.#kept] = [kept.sequence, kept.opId, kept.sequence];
  }

  /** Tells whether the log confirmed the snapshot; if not, the log is read again from its start. */
  async #isConfirmed(): Promise<boolean> {
    const confirmed = await this.#restoration.end();
    if (!confirmed) [this.#applied, this.#opId, this.#kept] = [0, "", 0];
    return confirmed;
  }

  /**
   * Reads some entries, while the index takes the ones before; answers whether they were the log's last ones.
   */
  async #read(): Promise<boolean> {
    const { logId, log } = this.options;
    const range = { logId, from: this.#applied + 1, limit: READ_MANY, what: "text" } as const;
    const { entries, complete } = await log.read(range);
    if (entries.length === 0 && this.#applied < this.#wanted)
      throw unavailable("the log ends before an entry that was read");
    await this.#taking;
    this.#taking = this.#take(entries);
    if (complete) await this.#taking;
    else this.#taking.catch(() => {});
    return complete;
  }

  /** Applies entries in their order, and skips those already applied. */
  async #take(entries: readonly Numbered<Entry<"text">>[]): Promise<void> {
    const news = entries.filter(({ sequence }) => sequence > this.#applied);
    const last = news.at(-1);
    if (last === undefined) return;
    if (news[0]?.sequence !== this.#applied + 1) throw new Error(`log gap before ${news[0]?.sequence}`);
    this.#applied = last.sequence;
    this.#opId = last.entry.opId;
    const rows: TextRow[] = [];
    const gone: number[] = [];
    for (const { sequence, entry } of news) {
      const isForgotten = this.#forgotten.delete(sequence);
      if (entry.op === "store" && !isForgotten) rows.push({ sequence, text: entry.text });
      const target = forgottenBy(entry);
      if (target !== undefined && !this.#restoration.confirm(target)) gone.push(target);
    }
    const { index } = this.options;
    // Both are requested at once: an index applies them in the order of the calls.
    await Promise.all([
      rows.length > 0 ? this.#change(() => index.add(rows)) : undefined,
      gone.length > 0 ? this.#change(() => index.remove(gone)) : undefined,
    ]);
  }

  /** Requests a change. Whatever becomes of it, a search that is requested later waits for it. */
  #change(request: () => Promise<unknown>): Promise<unknown> {
    this.#changes++;
    const changing = this.#guard(request());
    this.#changed = Promise.all([this.#changed, changing]).then(() => {});
    this.#changed.catch(() => {});
    return changing;
  }

  #keepIfDue(): void {
    const { large, size } = this.options.index;
    if (!large || this.#keeping || this.#applied - this.#kept < size * SNAPSHOT_SHARE) return;
    this.#keeping = this.#keep().finally(() => {
      this.#keeping = undefined;
    });
  }

  /** Writes a snapshot. If that fails, the index is built from the log at the next start, or from an older one. */
  async #keep(): Promise<void> {
    const mark = { sequence: this.#applied, opId: this.#opId };
    this.#kept = mark.sequence;
    await this.options.index.snapshot(mark).catch((error) => this.options.onTrouble(error));
  }

  async #guard<T>(indexing: Promise<T>): Promise<T> {
    try {
      return await indexing;
    } catch (error) {
      // An index that is only too busy has lost nothing.
      if (error instanceof MemoryError && error.code === "unavailable") throw error;
      this.broken = true;
      throw unavailable("the words of this namespace failed; the next call builds their index anew", error);
    }
  }
}

function haveTexts(
  entries: readonly Numbered<Entry<"head">>[],
): entries is readonly Numbered<Entry<"text">>[] {
  return entries.every(({ entry }) => entry.op !== "store" || "text" in entry);
}
