import { MemoryError, unavailable } from "../../errors.js";
import { LogFields } from "../fields/log-fields.js";
import type { Clock } from "../pacing/clock.js";
import { coalesce } from "../pacing/coalesce.js";
import {
  type Dropped,
  type Entry,
  forgottenBy,
  isEnd,
  type Log,
  type Lost,
  type Moved,
  type Numbered,
} from "../ports/log.js";
import { type SharedStep, type Steps, untimed } from "../ports/steps.js";
import type { VectorIndex } from "../ports/vectors.js";
import { vectorsOf } from "../ports/windows.js";
import type { Words } from "../ports/words.js";
import { Restoration } from "../reading/restoration.js";
import { type Search, type Searchable, searching } from "../search/search.js";
import { Hidden } from "../versions/hidden.js";
import { LogWords } from "../words/log-words.js";

/** Entries read at a time: few if the replica is probably current, many while it is far behind. */
const READ_FEW = 16;
const READ_MANY = 512;
/** Numbers that hide memories read at a time. */
const SPECIAL_MANY = 1_000;

/** Entry that stands for a memory with a damaged vector: the others are served. */
const UNFIT: Lost = { op: "lost", opId: "", reason: "its vector does not fit the index" };

/** Error of a replica whose log has ended: its name may have a new log. */
export class Sealed extends Error {}

export interface ReplicaOptions {
  readonly log: Log;
  readonly index: VectorIndex;
  readonly words: Words;
  readonly clock: Clock;
  readonly steps?: Steps<SharedStep> | undefined;
  /**
   * Called with the number of entries read from the log: at the start, or because another process wrote them.
   */
  onCaughtUp?: ((entries: number) => void) | undefined;
  /** Called with failures of work that no call waits for. */
  onTrouble?: ((error: unknown) => void) | undefined;
  /** Called for entries that are missing or unreadable. */
  onLost?(logId: string, lost: Numbered<Lost>): void;
}

/**
 * One process's view of one log: an index that has applied the log up to a number. Several processes may
 * hold replicas of one log; they share nothing but the log.
 */
export class Replica {
  /** Called for every entry once it is applied here. */
  onApplied: (entry: Entry<"head">) => void = () => {};
  /** Number of calls that use it now; a replica in use is never closed. */
  users = 0;
  /** True if its index failed, or lost files: a new replica must replace it. */
  broken = false;
  /** True if the log has ended: the namespace was dropped, or has moved. */
  sealed = false;
  /** The log's last entry, once this replica has read it. */
  end: Dropped | Moved | undefined;

  #applied = 0;
  readonly #restoration: Restoration;
  readonly #words: LogWords;
  readonly #hidden = new Hidden();
  readonly #fields: LogFields;
  readonly #searchable: Searchable;
  /** Memories to forget that this replica has not read yet. */
  readonly #forgotten = new Set<number>();
  /** True once it has read its log to the end. */
  #isBuilt = false;
  #catchingUp = false;
  #stopped = false;
  readonly #catchUpOnce = coalesce(() => {
    this.#catchingUp = true;
    return this.#time("read", () => this.#catchUp()).finally(() => {
      this.#catchingUp = false;
    });
  });

  constructor(
    readonly logId: string,
    private readonly options: ReplicaOptions,
  ) {
    this.#restoration = new Restoration({ ...options, logId });
    this.#words = new LogWords(logId, { ...options, fits: (vectors) => options.index.fits(vectors) });
    this.#fields = new LogFields(logId, options);
    this.#searchable = {
      ...{ logId, log: options.log, index: options.index, clock: options.clock },
      ...{ words: this.#words, fields: this.#fields, hidden: this.#hidden },
      applied: () => this.#applied,
      current: () => this.current(),
      search: (query) => this.#search(query),
    };
    options.index.onLost = () => {
      this.broken = true;
    };
  }

  /** The number of the last entry applied. */
  get applied(): number {
    return this.#applied;
  }

  /** Number of memories in its index. */
  get size(): number {
    return this.options.index.size;
  }

  /** Tells whether an append through this replica is quick, because it need not read a long log first. */
  isNear(sequence: number): boolean {
    return this.#isBuilt && sequence - this.#applied <= READ_MANY;
  }

  get bytes(): number {
    const { index } = this.options;
    return index.bytes + this.#words.bytes + this.#fields.bytes + this.#hidden.bytes;
  }

  /** Number of requests that wait for the indexes. */
  get waiting(): number {
    return this.options.index.waiting + this.#words.waiting;
  }

  /**
   * Catches up with all writes that any process answered before this call.
   *
   * @throws Sealed if the log has ended.
   */
  async current(): Promise<void> {
    await this.#catchUpOnce();
    if (this.sealed) throw new Sealed();
  }

  /** Searches its indexes, again if others change meanwhile what is found. It sees all that `current` has seen. */
  searching<T>(work: (search: Search) => Promise<T>): Promise<T> {
    return searching(this.#searchable, work);
  }

  /**
   * Applies entries of the log in their order, and skips those already applied. A search that begins after
   * this call sees them; the promise resolves when the index has room for more.
   */
  async apply(entries: readonly Numbered<Entry<"vectors">>[]): Promise<void> {
    const news = entries.filter(({ sequence }) => sequence > this.#applied);
    const first = news[0];
    if (first === undefined) return;
    if (first.sequence !== this.#applied + 1) throw new Error(`log gap before ${first.sequence}`);
    this.#applied += news.length;
    const indexed = this.#guard(this.#index(news));
    this.#words.take(news);
    this.#fields.take(news);
    for (const { entry } of news) this.onApplied(entry);
    await indexed;
  }

  /**
   * Removes a memory from the indexes. One of vectors that is still being built is not awaited: it answers
   * no call before it has read the tombstone, and it adds no memory that is forgotten already.
   */
  async forget(sequence: number): Promise<void> {
    if (sequence > this.#applied) this.#forgotten.add(sequence);
    this.#fields.forget([sequence]);
    const removed = this.#guard(this.options.index.remove([sequence]));
    // A failure reaches the call that builds the index: the replica is broken then.
    removed.catch(() => {});
    // A file of words that is being written may have the memory; it is complete when this resolves. An index
    // that has failed writes no more files.
    await this.#words.forget([sequence]).catch(() => {});
    if (this.#isBuilt) await removed;
  }

  /** Stops a catch-up that may take long, and closes its index; resolves when no catch-up runs. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#catchingUp) await this.options.index.close();
    await this.#words.stop();
    await this.#fields.stop();
    await this.#catchUpOnce().catch(() => {});
  }

  async close(): Promise<void> {
    const closing = [this.options.index.close(), this.#words.close({ keeps: !this.sealed })];
    // Neither is left open because the other fails.
    for (const closed of await Promise.allSettled(closing)) {
      if (closed.status === "rejected") throw closed.reason;
    }
  }

  async #search(query: Parameters<VectorIndex["search"]>[0]) {
    const hits = await this.#guard(this.options.index.search(query));
    // A memory that was answered as stored just before the index failed may be missing.
    if (this.broken) throw failed();
    return hits;
  }

  /** Begins where the index's files end, if they were made of this log. */
  async #restore(): Promise<void> {
    const kept = await this.#restoration.begin();
    if (kept === undefined) return;
    await this.#hide(kept.sequence);
    this.#applied = kept.sequence;
  }

  /** Tells whether the log confirmed the index's files; if not, the log is read again from its start. */
  async #isConfirmed(): Promise<boolean> {
    const confirmed = await this.#restoration.end();
    if (confirmed) return true;
    this.#applied = 0;
    this.#hidden.clear();
    return false;
  }

  /** Reads which of the memories that the index's files hold must be hidden. */
  async #hide(until: number): Promise<void> {
    const { log, clock } = this.options;
    for (let from = 1; from <= until; ) {
      const some = await log.special({ logId: this.logId, from, limit: SPECIAL_MANY });
      for (const each of some) if (each.sequence <= until) this.#hidden.add(each);
      if (some.length < SPECIAL_MANY) return;
      from = (some.at(-1)?.sequence ?? until) + 1;
      await clock.yield();
    }
  }

  /** Requests both changes at once: an index applies them in the order of the calls. */
  async #index(news: readonly Numbered<Entry<"vectors">>[]): Promise<void> {
    const { index, onLost } = this.options;
    const rows = [];
    const forgotten: number[] = [];
    for (const { sequence, entry } of news) {
      // For memories only: the log that this one moves to has other entries from its end on.
      const isForgotten = entry.op === "store" && this.#forgotten.delete(sequence);
      if (entry.op === "store" && !isForgotten) {
        const vectors = vectorsOf(entry);
        if (index.fits(vectors)) rows.push({ sequence, opId: entry.opId, vectors });
        else onLost?.(this.logId, { sequence, entry: UNFIT });
      } else if (isEnd(entry)) {
        this.sealed = true;
        this.end = entry;
      } else if (entry.op === "lost") onLost?.(this.logId, { sequence, entry });
      const target = forgottenBy(entry);
      if (target !== undefined && !this.#restoration.confirm(target)) forgotten.push(target);
      this.#hidden.take(sequence, entry);
      if (target !== undefined) this.#hidden.forget(target, entry.op === "delete" ? undefined : sequence);
    }
    await Promise.all([
      rows.length > 0 ? index.add(rows) : undefined,
      forgotten.length > 0 ? index.remove(forgotten) : undefined,
    ]);
  }

  async #guard<T>(indexing: Promise<T>): Promise<T> {
    try {
      return await indexing;
    } catch (error) {
      // An index that is only too busy has lost nothing.
      if (error instanceof MemoryError && error.code === "unavailable") throw error;
      this.broken = true;
      throw failed(error);
    }
  }

  #time<T>(step: SharedStep, work: () => Promise<T>): Promise<T> {
    return (this.options.steps ?? untimed).time(step, work);
  }

  async #catchUp(): Promise<void> {
    for (let limit = READ_FEW; ; limit = READ_MANY) {
      if (this.#stopped) throw unavailable("the service is stopping");
      // This process dropped the log before its end was read: no more entries are needed.
      if (this.sealed) return;
      if (this.#restoration.pending) await this.#restore();
      const from = this.#applied + 1;
      // Words and fields that are followed as well are handed on, and need no reading of their own then.
      const what = this.#words.follows(from) || this.#fields.follows(from) ? "all" : "vectors";
      const { entries, complete } = await this.options.log.read({ logId: this.logId, from, limit, what });
      if (entries.length > 0) this.options.onCaughtUp?.(entries.length);
      await this.apply(entries);
      if (complete && (await this.#isConfirmed())) {
        this.#isBuilt = true;
        return;
      }
      // A long log is read in slices, so that other calls are served in between.
      await this.options.clock.yield();
    }
  }
}

function failed(error?: unknown): MemoryError {
  return unavailable("the index of this namespace failed; the next call builds it anew", error);
}
