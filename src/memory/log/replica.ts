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
import { type Restored, SEARCH_DEPTH_MAX, type VectorIndex } from "../ports/vectors.js";
import { type Pair, type Scored, score } from "./score.js";
import { Nearby } from "./search.js";
import { vectorsOf } from "./windows.js";

/** Entries read at a time while catching up: few when probably current, more while far behind. */
const READ_FEW = 16;
const READ_MANY = 512;

/** A search of an index up to this size is over at once. */
const QUICK_INDEX_BYTES = 1_048_576;

/** A snapshot is due after so many entries, and so large a share of all. */
const SNAPSHOT_ENTRIES_MIN = 10_000;
const SNAPSHOT_SHARE = 0.1;

/** What stands for a memory whose vector was damaged: the others are served. */
const UNFIT: Lost = { op: "lost", opId: "", reason: "its vector does not fit the index" };

/** Thrown to whoever uses a replica whose log has ended: its name may have a new log. */
export class Sealed extends Error {}

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

export interface NearestOptions {
  readonly vectors: readonly Float32Array[];
  readonly limit: number;
  /** Ends the search between two of the query's vectors. */
  readonly signal?: AbortSignal | undefined;
  readonly steps?: Steps<CallStep> | undefined;
}

/** The memories near a query, each with the pairs that are near. */
interface Found {
  readonly nearby: Map<number, Pair[]>;
  readonly signal: AbortSignal | undefined;
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
  #restored = false;
  /** What the index was filled from, until the log was found to be the one it was made of. */
  #unchecked: Restored | undefined;
  /** Memories that the snapshot has no vectors of, and whose tombstones were not read yet. */
  readonly #unconfirmed = new Set<number>();
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
    this.#restored = true;
    return this.current();
  }

  /**
   * The `limit` memories nearest to any of a query's vectors with their scores, in no particular order;
   * fewer when there are fewer.
   */
  async nearest({ vectors, limit, signal, steps = untimed }: NearestOptions): Promise<Scored[]> {
    const nearby = await steps.time("search", () => this.#search({ vectors, limit, signal }));
    // What a store behind which the index failed had answered may be missing.
    if (this.broken) throw failed();
    return steps.time("fetch", () => this.#score(vectors, { nearby, signal }));
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

  async #search({ vectors, limit, signal }: NearestOptions): Promise<Map<number, Pair[]>> {
    const { index, clock } = this.options;
    const nearby = new Nearby();
    const look = async (query: number, depthMax: number) => {
      signal?.throwIfAborted();
      const vector = vectors[query] as Float32Array;
      const hits = await this.#guard(index.search({ vector, limit, depthMax }));
      for (const hit of hits) nearby.add(query, hit);
    };
    for (const query of vectors.keys()) {
      // Each search of many vectors may hold the thread for some milliseconds: of a long query there are
      // many, and many queries may begin at once.
      if (query > 0 || index.bytes > QUICK_INDEX_BYTES) await clock.yield();
      await look(query, Math.ceil(SEARCH_DEPTH_MAX / vectors.length));
    }
    // Where the nearest vectors are all of a few long memories, one deep look finds the others.
    if (vectors.length > 1 && nearby.size < Math.min(limit, index.size)) await look(0, SEARCH_DEPTH_MAX);
    return nearby.best(limit);
  }

  /** Scores slice by slice, so that few vectors are held at a time. */
  async #score(vectors: readonly Float32Array[], { nearby, signal }: Found): Promise<Scored[]> {
    const all: Scored[] = [];
    for (let rest = [...nearby.keys()]; rest.length > 0; ) {
      const scored = await this.#scoreSome(vectors, { nearby, sequences: rest });
      all.push(...scored.some);
      rest = scored.rest;
      if (rest.length === 0) break;
      await this.options.clock.yield();
      signal?.throwIfAborted();
    }
    return all;
  }

  /** What it read is let go when it returns: hundreds of recalls may wait for their turn between two slices. */
  async #scoreSome(
    vectors: readonly Float32Array[],
    { nearby, sequences }: { nearby: Map<number, Pair[]>; sequences: number[] },
  ): Promise<{ some: Scored[]; rest: number[] }> {
    const { logId } = this;
    const { found, rest } = await this.options.log.fetch({ logId, sequences, what: "all" });
    const some = found.map((each) => score(vectors, { ...each, pairs: nearby.get(each.sequence) ?? [] }));
    return { some, rest: [...rest] };
  }

  /** Begins where the index's snapshot ends, if the log there is still the one it was made of. */
  async #restore(): Promise<void> {
    const { index, log } = this.options;
    // Only once: a catch-up that failed behind it goes on with what is restored.
    if (!this.#restored) this.#unchecked = await this.#time("restore", () => index.restore());
    this.#restored = true;
    const kept = this.#unchecked;
    if (kept === undefined) return;
    const range = { logId: this.logId, from: kept.sequence, limit: 1, what: "head" } as const;
    const [at] = (await log.read(range)).entries;
    const isOurs = at?.sequence === kept.sequence && at.entry.opId === kept.opId;
    if (!isOurs) await index.reset();
    this.#unchecked = undefined;
    if (!isOurs) return;
    this.#applied = kept.sequence;
    this.#kept = kept.sequence;
    this.#opId = kept.opId;
    for (const sequence of kept.wiped) this.#unconfirmed.add(sequence);
  }

  /**
   * Whether the log has a tombstone for each memory that the snapshot lacks. It has not when the database
   * is an older copy of itself: then the index is built from the log.
   */
  async #isConfirmed(): Promise<boolean> {
    if (this.#unconfirmed.size === 0) return true;
    await this.options.index.reset();
    this.#unconfirmed.clear();
    this.#applied = 0;
    this.#kept = 0;
    this.#opId = "";
    return false;
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
      else if (entry.op === "delete" && !this.#unconfirmed.delete(entry.target)) forgotten.push(entry.target);
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
      if (!this.#restored || this.#unchecked) await this.#restore();
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
