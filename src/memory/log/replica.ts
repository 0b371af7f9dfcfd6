import { MemoryError, unavailable } from "../../errors.js";
import type { Clock } from "../pacing/clock.js";
import { coalesce } from "../pacing/coalesce.js";
import {
  type Dropped,
  type Entry,
  isEnd,
  type Log,
  type Lost,
  type Moved,
  type Numbered,
} from "../ports/log.js";
import { type CallStep, type SharedStep, type Steps, untimed } from "../ports/steps.js";
import type { Mark, VectorIndex } from "../ports/vectors.js";
import { Restoration } from "./restoration.js";
import type { Scored } from "./score.js";
import { findNearby, type Query, scoreAll } from "./search.js";
import { vectorsOf } from "./windows.js";

/** Entries read at a time while catching up: few when probably current, more while far behind. */
const READ_FEW = 16;
const READ_MANY = 512;

/** A snapshot is due after so many entries, and so large a share of all. */
const SNAPSHOT_ENTRIES_MIN = 10_000;
const SNAPSHOT_SHARE = 0.1;

/** What stands for a memory whose vector was damaged: the others are served. */
const UNFIT: Lost = { op: "lost", opId: "", reason: "its vector does not fit the index" };

/** Thrown to whoever uses a replica whose log has ended: its name may have a new log. */
export class Sealed extends Error {}

export interface NearestOptions extends Query {
  readonly steps?: Steps<CallStep> | undefined;
}

export interface ReplicaOptions {
  readonly log: Log;
  readonly index: VectorIndex;
  readonly clock: Clock;
  readonly steps?: Steps<SharedStep> | undefined;
  /** Told of entries that were read from the log, at the start or because another process wrote them. */
  onCaughtUp?: ((entries: number) => void) | undefined;
  /** Told of entries that are missing or unreadable. */
  onLost?(logId: string, lost: Numbered<Lost>): void;
}

/**
 * One process's view of one log: an index that has applied the log up to a number. Many
 * processes may hold a replica each; what they share is the log alone.
 */
export class Replica {
  /** Told of every entry once it is applied here. */
  onApplied: (entry: Entry<"head">) => void = () => {};
  /** Calls that are using it now; one that is used is never closed. */
  users = 0;
  /** Its index failed: what it holds is in doubt, and a new replica must take its place. */
  broken = false;
  /** The log has ended: the namespace was dropped, or has moved. */
  sealed = false;
  /** Where it has moved to. */
  movedTo: string | undefined;

  #applied = 0;
  /** Of the last entry applied, for snapshots. */
  #opId = "";
  readonly #restoration: Restoration;
  /** Memories to forget that this view has not come to yet. */
  readonly #forgotten = new Set<number>();
  /** It has read its log to the end once. */
  #isBuilt = false;
  #catchingUp = false;
  #stopped = false;
  /** The number of the last entry that a snapshot holds. */
  #kept = 0;
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
    options.index.onSnapshotLost = () => {
      this.#kept = 0;
    };
  }

  /** The number of the last entry applied. */
  get applied(): number {
    return this.#applied;
  }

  /** Memories in it. */
  get size(): number {
    return this.options.index.size;
  }

  /** Whether an append by way of this view is quick: it need not read a long log before. */
  isNear(sequence: number): boolean {
    return this.#isBuilt && sequence - this.#applied <= READ_MANY;
  }

  /** A fresh replica would serve better. */
  get fragmented(): boolean {
    return this.options.index.fragmented;
  }

  /** So much was applied since the last snapshot that a restart would take long. */
  get snapshotDue(): boolean {
    const since = this.#applied - this.#kept;
    return (
      this.options.index.large && since >= Math.max(SNAPSHOT_ENTRIES_MIN, this.#applied * SNAPSHOT_SHARE)
    );
  }

  get bytes(): number {
    return this.options.index.bytes;
  }

  /** Requests that wait for the index. */
  get waiting(): number {
    return this.options.index.waiting;
  }

  /**
   * Brings this view up to all that was answered, by any process, before the call.
   *
   * @throws Sealed when the log has ended.
   */
  async current(): Promise<void> {
    await this.#catchUpOnce();
    if (this.sealed) throw new Sealed();
  }

  /** As `current`, but from the log alone: for an index whose snapshot is as fragmented as itself. */
  rebuild(): Promise<void> {
    this.#restoration.skip();
    return this.current();
  }

  /**
   * The `limit` memories nearest to any of a query's vectors with their scores, in no particular order;
   * fewer when there are fewer.
   */
  async nearest({ vectors, limit, signal, steps = untimed }: NearestOptions): Promise<Scored[]> {
    const { index } = this.options;
    const search: VectorIndex["search"] = (query) => this.#guard(index.search(query));
    const searched = { ...this.options, logId: this.logId, search };
    const nearby = await steps.time("search", () => findNearby(searched, { vectors, limit, signal }));
    // What a store behind which the index failed had answered may be missing.
    if (this.broken) throw failed();
    return steps.time("fetch", () => scoreAll(searched, { vectors, nearby, signal }));
  }

  /**
   * Takes in entries of the log, in their order; those already applied are passed over. A search
   * begun after this call sees them; the promise says when the index has room for more.
   */
  async apply(entries: readonly Numbered<Entry<"vectors">>[]): Promise<void> {
    const news = entries.filter(({ sequence }) => sequence > this.#applied);
    const first = news[0];
    if (first === undefined) return;
    if (first.sequence !== this.#applied + 1) throw new Error(`log gap before ${first.sequence}`);
    this.#applied += news.length;
    this.#opId = (news.at(-1) ?? first).entry.opId;
    const indexed = this.#guard(this.#index(news));
    for (const { entry } of news) this.onApplied(entry);
    await indexed;
  }

  /**
   * Resolves when a memory is out of the index. One that is still being built is not waited for: it answers
   * nobody before it has read the tombstone, and takes no memory in that is forgotten already.
   */
  async forget(sequence: number): Promise<void> {
    if (sequence > this.#applied) this.#forgotten.add(sequence);
    const removed = this.#guard(this.options.index.remove([sequence]));
    if (this.#isBuilt) await removed;
    // A failure is told to whoever builds it: the replica is broken then.
    else removed.catch(() => {});
  }

  /**
   * Keeps what the index holds, so that the next start applies only what came later. One that fails,
   * as on a full disk, is tried again when the next is due: the index itself is well.
   */
  async keepSnapshot(): Promise<void> {
    this.#kept = this.#applied;
    const mark = { sequence: this.#applied, opId: this.#opId };
    await this.#time("snapshot", () => this.options.index.snapshot(mark));
  }

  /** Ends a catch-up that may have a long way to go, and with it the index; resolves when none runs. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#catchingUp) await this.options.index.close();
    await this.#catchUpOnce().catch(() => {});
  }

  async close(): Promise<void> {
    const { index } = this.options;
    const changed = index.large && this.#applied > this.#kept;
    try {
      if (changed && !index.fragmented && !this.broken && !this.sealed) await this.keepSnapshot();
    } finally {
      await index.close();
    }
  }

  /** Begins where the index's snapshot ends, if that was made of this log. */
  async #restore(): Promise<void> {
    const kept = await this.#restoration.begin();
    if (kept !== undefined) this.#beginAt(kept);
  }

  /** Whether all that the snapshot promised was found in the log; if not, the log is read from its start. */
  async #isConfirmed(): Promise<boolean> {
    const confirmed = await this.#restoration.end();
    if (!confirmed) this.#beginAt({ sequence: 0, opId: "" });
    return confirmed;
  }

  #beginAt({ sequence, opId }: Mark): void {
    this.#applied = sequence;
    this.#kept = sequence;
    this.#opId = opId;
  }

  /** Both changes are asked for at once: an index takes them in the order of the calls. */
  async #index(news: readonly Numbered<Entry<"vectors">>[]): Promise<void> {
    const { index, onLost } = this.options;
    const rows = [];
    const forgotten: number[] = [];
    for (const { sequence, entry } of news) {
      const vectors = entry.op === "store" ? vectorsOf(entry) : [];
      // Of a memory alone: the log that this one moves to has other entries from its end on.
      if (entry.op === "store" && this.#forgotten.delete(sequence)) continue;
      if (entry.op === "store" && index.fits(vectors)) rows.push({ sequence, vectors });
      else if (entry.op === "store") onLost?.(this.logId, { sequence, entry: UNFIT });
      else if (entry.op === "delete" && !this.#restoration.confirm(entry.target))
        forgotten.push(entry.target);
      else if (isEnd(entry)) this.#seal(entry);
      else if (entry.op === "lost") onLost?.(this.logId, { sequence, entry });
    }
    await Promise.all([
      rows.length > 0 ? index.add(rows) : undefined,
      forgotten.length > 0 ? index.remove(forgotten) : undefined,
    ]);
  }

  #seal(end: Dropped | Moved): void {
    this.sealed = true;
    if (end.op === "moved") this.movedTo = end.to;
  }

  async #guard<T>(indexing: Promise<T>): Promise<T> {
    try {
      return await indexing;
    } catch (error) {
      // One that is only too busy has lost nothing.
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
      // Dropped by this process before the end of the log was read: there is nothing left to read for.
      if (this.sealed) return;
      if (this.#restoration.pending) await this.#restore();
      const from = this.#applied + 1;
      const range = { logId: this.logId, from, limit, what: "vectors" } as const;
      const { entries, complete } = await this.options.log.read(range);
      if (entries.length > 0) this.options.onCaughtUp?.(entries.length);
      await this.apply(entries);
      if (complete && (await this.#isConfirmed())) {
        this.#isBuilt = true;
        return;
      }
      // A long log is taken in slices, so that other calls are served in between.
      await this.options.clock.yield();
    }
  }
}

function failed(error?: unknown): MemoryError {
  return unavailable("the index of this namespace failed; the next call builds it anew", error);
}
