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

/** Entries read at a time: few if the replica is probably current, many while it is far behind. */
const READ_FEW = 16;
const READ_MANY = 512;

/** Minimum number of new entries before a snapshot is due, and their minimum share of all. */
const SNAPSHOT_ENTRIES_MIN = 10_000;
const SNAPSHOT_SHARE = 0.1;

/** Entry that stands for a memory with a damaged vector: the others are served. */
const UNFIT: Lost = { op: "lost", opId: "", reason: "its vector does not fit the index" };

/** Error of a replica whose log has ended: its name may have a new log. */
export class Sealed extends Error {}

export interface NearestOptions extends Query {
  readonly steps?: Steps<CallStep> | undefined;
}

export interface ReplicaOptions {
  readonly log: Log;
  readonly index: VectorIndex;
  readonly clock: Clock;
  readonly steps?: Steps<SharedStep> | undefined;
  /**
   * Called with the number of entries read from the log: at the start, or because another process wrote them.
   */
  onCaughtUp?: ((entries: number) => void) | undefined;
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
  /** True if its index failed: its contents are in doubt, and a new replica must replace it. */
  broken = false;
  /** True if the log has ended: the namespace was dropped, or has moved. */
  sealed = false;
  /** The log that it has moved to. */
  movedTo: string | undefined;

  #applied = 0;
  /** Operation id of the last entry applied, for snapshots. */
  #opId = "";
  readonly #restoration: Restoration;
  /** Memories to forget that this replica has not read yet. */
  readonly #forgotten = new Set<number>();
  /** True once it has read its log to the end. */
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

  /** Number of memories in its index. */
  get size(): number {
    return this.options.index.size;
  }

  /** Tells whether an append through this replica is quick, because it need not read a long log first. */
  isNear(sequence: number): boolean {
    return this.#isBuilt && sequence - this.#applied <= READ_MANY;
  }

  /** True if a fresh replica would serve better. */
  get fragmented(): boolean {
    return this.options.index.fragmented;
  }

  /** True if a restart would take long, because many entries were applied since the last snapshot. */
  get snapshotDue(): boolean {
    const since = this.#applied - this.#kept;
    return (
      this.options.index.large && since >= Math.max(SNAPSHOT_ENTRIES_MIN, this.#applied * SNAPSHOT_SHARE)
    );
  }

  get bytes(): number {
    return this.options.index.bytes;
  }

  /** Number of requests that wait for the index. */
  get waiting(): number {
    return this.options.index.waiting;
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

  /**
   * Catches up like `current`, but from the log alone: the snapshot of a fragmented index is fragmented too.
   */
  rebuild(): Promise<void> {
    this.#restoration.skip();
    return this.current();
  }

  /**
   * Finds the `limit` memories nearest to any of a query's vectors, with their scores, in no particular
   * order; fewer if the log holds fewer.
   */
  async nearest({ vectors, limit, signal, steps = untimed }: NearestOptions): Promise<Scored[]> {
    const { index } = this.options;
    const search: VectorIndex["search"] = (query) => this.#guard(index.search(query));
    const searched = { ...this.options, logId: this.logId, search };
    const nearby = await steps.time("search", () => findNearby(searched, { vectors, limit, signal }));
    // A memory that was answered as stored just before the index failed may be missing.
    if (this.broken) throw failed();
    return steps.time("fetch", () => scoreAll(searched, { vectors, nearby, signal }));
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
    this.#opId = (news.at(-1) ?? first).entry.opId;
    const indexed = this.#guard(this.#index(news));
    for (const { entry } of news) this.onApplied(entry);
    await indexed;
  }

  /**
   * Removes a memory from the index. An index that is still being built is not awaited: it answers no call
   * before it has read the tombstone, and it adds no memory that is forgotten already.
   */
  async forget(sequence: number): Promise<void> {
    if (sequence > this.#applied) this.#forgotten.add(sequence);
    const removed = this.#guard(this.options.index.remove([sequence]));
    if (this.#isBuilt) await removed;
    // A failure reaches the call that builds the index: the replica is broken then.
    else removed.catch(() => {});
  }

  /**
   * Writes a snapshot of the index, so that the next start applies only later entries. A failure, such as a
   * full disk, does not harm the index: the next snapshot that is due tries again.
   */
  async keepSnapshot(): Promise<void> {
    this.#kept = this.#applied;
    const mark = { sequence: this.#applied, opId: this.#opId };
    await this.#time("snapshot", () => this.options.index.snapshot(mark));
  }

  /** Stops a catch-up that may take long, and closes its index; resolves when no catch-up runs. */
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

  /** Tells whether the log confirmed the snapshot; if not, the log is read again from its start. */
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

  /** Requests both changes at once: an index applies them in the order of the calls. */
  async #index(news: readonly Numbered<Entry<"vectors">>[]): Promise<void> {
    const { index, onLost } = this.options;
    const rows = [];
    const forgotten: number[] = [];
    for (const { sequence, entry } of news) {
      const vectors = entry.op === "store" ? vectorsOf(entry) : [];
      // For memories only: the log that this one moves to has other entries from its end on.
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
      const range = { logId: this.logId, from, limit, what: "vectors" } as const;
      const { entries, complete } = await this.options.log.read(range);
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
