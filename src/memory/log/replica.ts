import { coalesce } from "../../concurrency/coalesce.js";
import { MemoryError, unavailable } from "../../errors.js";
import { NumberHeap } from "../../number-heap.js";
import type { Gap, Index, IndexRow, RestoredIndex } from "../ports/index.js";
import {
  type Dropped,
  type Entry,
  entryAt,
  forgottenBy,
  isEnd,
  isMemory,
  type Lost,
  type Moved,
  type Sequenced,
  type Stored,
} from "../ports/log.js";
import type { DomainPorts } from "../ports/ports.js";
import { NO_TIMINGS, type SharedStep, type StepTimer } from "../ports/step-timer.js";
import { rowFor, vectorsOf } from "../ports/windows.js";
import { SampledMean } from "../search/sampled-mean.js";
import {
  CHANGES_MAX,
  type Change,
  type Search,
  type Searchable,
  type SearchOptions,
  type Sources,
  searching,
} from "../search/search.js";
import { SupersededIndex, supersedingAndExpiring } from "../search/superseded-index.js";
import { fetchAll, fetchVisible, visibleOnly } from "../versions/fetch.js";
import { allEntries } from "./walk.js";

/** Entries read at a time: few if the replica is probably current, many while it is far behind. */
const READ_FEW = 16;
const READ_MANY = 256;
/** Entries read at a time to complete what files hold. */
const RESTORE_MANY = 512;
/** Maximum number of entries that a replica has to read before an append, if that is to be quick. */
const NEAR_MANY = 512;

/** Expired memories that are removed before other work may run: some milliseconds. */
const EXPIRED_AT_ONCE = 256;
/** Memory that the time of one takes, in bytes. */
const EXPIRY_BYTES = 16;
/** Share of the memory for indexes that one may take while it is built: what is not sealed yet takes more. */
const BUILDING_SHARE = 1.5;
/** Memory of the objects that an open namespace has, however few its memories are. */
const OBJECTS_BYTES = 12_288;

/** Time that the clock may be set back without an index being built again: less is hardly seen. */
const CLOCK_BACK_MS = 1_000;

/** Entry that stands for a memory with a damaged vector: the others are served. */
const UNFIT: Lost = { op: "lost", opId: "", reason: "its vector does not fit the index" };

/** Error of a replica whose log has ended: its name may have a new log. */
export class LogEndedError extends Error {
  override readonly name = "LogEndedError";
  override readonly message = "the log has ended";
}

export interface ReplicaOptions extends Pick<DomainPorts, "log" | "secondaryIndexes" | "indexes" | "clock"> {
  readonly timer?: StepTimer<SharedStep> | undefined;
  /**
   * Called with the number of entries read from the log: at the start, or because another process wrote them.
   */
  onCaughtUp?: ((entries: number) => void) | undefined;
  /** Memory for the indexes of all open namespaces, in bytes. */
  readonly indexMemoryBytesMax: number;
  /** Called with failures of work that no call waits for, and of the index. */
  onTrouble?: ((error: unknown) => void) | undefined;
  /** Called for entries that are missing or unreadable. */
  onLost?(logId: string, lost: Sequenced<Lost>): void;
}

/**
 * One process's view of one log: indexes of vectors, words and fields that have applied the log up to a number.
 * Several processes may hold replicas of one log; they share nothing but the log.
 */
export class Replica implements Searchable {
  /** Called for every entry once it is applied here. */
  onApplied: (entry: Entry<"header">) => void = () => {};
  /** Number of calls that use it now; a replica in use is never closed. */
  users = 0;
  /** True if an index failed, or lost files: a new replica must replace it. */
  broken = false;
  /** True if the log has ended: the namespace was dropped, or has moved. */
  hasEnded = false;
  /** The number of the last entry applied. */
  applied = 0;
  /** Resolves once it is closed, well or not. */
  readonly closed: Promise<void>;
  /** The log's last entry, once this replica has read it. */
  end: Dropped | Moved | undefined;
  readonly searches = new Set<Change[]>();

  /** Its index of living memories. */
  readonly index: Index;
  readonly #superseded: SupersededIndex;
  readonly #mean = new SampledMean((sequences) => this.#readVectors(sequences));
  readonly #meanOfAll = new SampledMean((sequences) => this.#readVectors(sequences));
  /** When memories expire, and the latest time of those that were removed. */
  readonly #expiries = new NumberHeap();
  #expiredMs = Number.NEGATIVE_INFINITY;
  /** Index that was restored from files; they are read only once. */
  #restored: { readonly stored: RestoredIndex | undefined } | undefined;
  /** Number of the last entry that the files cover, once the log has confirmed their marks. */
  #restoredUpto: number | undefined;
  /** Memories that were removed from the files, and whose removal was not read in the log yet. */
  readonly #unconfirmed = new Set<number>();
  #isRestored = false;
  /** Resolves when all that has expired is removed; undefined if that does not take long. */
  #expiring: Promise<void> | undefined;
  /** Memories to forget that this replica has not read yet. */
  readonly #forgotten = new Set<number>();
  /** True once it has read its log to the end. */
  #isBuilt = false;
  #catchingUp = false;
  #stopped = false;
  #onClosed = () => {};
  readonly #catchUpOnce = coalesce(() => {
    this.#catchingUp = true;
    const { timer = NO_TIMINGS } = this.options;
    return timer
      .time("read", () => this.#catchUp())
      .finally(() => {
        this.#catchingUp = false;
      });
  });

  constructor(
    readonly logId: string,
    readonly options: ReplicaOptions,
  ) {
    this.closed = new Promise((resolve) => {
      this.#onClosed = resolve;
    });
    this.index = options.indexes.open(logId);
    this.index.onLost = () => {
      this.broken = true;
    };
    this.#superseded = new SupersededIndex({
      ...options,
      logId,
      applied: () => this.applied,
      checkCapacity: (bytes) => this.#checkCapacity(bytes),
    });
  }

  /** True if memories were removed too early, because the clock was ahead for a while: a new replica must replace it. */
  get clockWasAhead(): boolean {
    return this.#expiredMs > this.options.clock.wallMs() + CLOCK_BACK_MS;
  }

  /** True if an append through this replica is quick, because it need not read a long log first. */
  isNear(sequence: number): boolean {
    return this.#isBuilt && sequence - this.applied <= NEAR_MANY;
  }

  get bytes(): number {
    const copies = this.index.vectors.copiedBytes + this.#mean.bytes + this.#meanOfAll.bytes;
    return this.neededBytes + copies + this.#superseded.bytes;
  }

  /**
   * Bytes that all calls need, without the copies that some make, and without superseded memories: otherwise a recall
   * could make its namespace too large.
   */
  get neededBytes(): number {
    const { bytes, vectors } = this.index;
    return OBJECTS_BYTES + bytes - vectors.copiedBytes + this.#expiries.size * EXPIRY_BYTES;
  }

  /**
   * Expects that its index fits alone into the memory for all; superseded memories make room for the others.
   *
   * @throws MemoryError `resource_exhausted`
   */
  async ensureCapacity(): Promise<void> {
    const { indexMemoryBytesMax } = this.options;
    // Others may have deleted some of it.
    if (this.neededBytes > indexMemoryBytesMax) await this.current();
    this.#checkCapacity(0);
    if (this.neededBytes + this.#superseded.bytes > indexMemoryBytesMax) this.#superseded.release();
  }

  #checkCapacity(more: number): void {
    if (this.neededBytes + more > this.options.indexMemoryBytesMax) throw tooLarge();
  }

  /**
   * Catches up with all writes that any process answered before this call.
   *
   * @throws LogEndedError if the log has ended.
   */
  async current(): Promise<void> {
    await this.#catchUpOnce();
    if (this.hasEnded) throw new LogEndedError();
  }

  /** Searches its indexes, again if others change meanwhile what is found. It sees all that `current` has seen. */
  searching<T>(work: (search: Search) => Promise<T>, options: SearchOptions = {}): Promise<T> {
    return searching(this, work, options);
  }

  /**
   * Applies entries of the log in their order, and skips those already applied. A search that begins after
   * this call sees them; the promise resolves when the index has room for more.
   */
  async apply(entries: readonly Sequenced<Entry>[]): Promise<void> {
    const unapplied = entries.filter(({ sequence }) => sequence > this.applied);
    const first = unapplied[0];
    if (first === undefined) return;
    if (first.sequence !== this.applied + 1) throw new Error(`log gap before ${first.sequence}`);
    const indexed = this.#breakOnFailure(this.#add(unapplied));
    for (const { entry } of unapplied) this.onApplied(entry);
    await indexed;
  }

  /** Removes a memory: no search that begins now finds it. One that is still being built does not add it later. */
  forget(sequence: number): void {
    if (sequence > this.applied) this.#forgotten.add(sequence);
    this.#remove([sequence]);
  }

  /** Stops a catch-up that may take long, and closes its index; resolves when no catch-up runs. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#catchingUp) await this.#close();
    // A failure reaches the calls that wait for the same catch-up.
    await this.#catchUpOnce().catch(() => {});
  }

  async close(): Promise<void> {
    await this.#close().finally(() => this.#onClosed());
  }

  #close(): Promise<void> {
    return this.index.close({ retainFiles: !this.hasEnded && !this.broken });
  }

  async sources(includeSuperseded: boolean): Promise<Sources> {
    await this.#expire();
    const layers = includeSuperseded ? await this.#breakOnFailure(this.#superseded.layers()) : [];
    const indexes = [this.index, ...layers.map(({ index }) => index)];
    const mean = includeSuperseded ? this.#meanOfAll : this.#mean;
    const changes = this.index.changes + (includeSuperseded ? this.#superseded.changes : 0);
    return {
      indexes,
      mean: () => mean.meanAt(changes, () => this.#breakOnFailure(this.options.indexes.sample(indexes))),
    };
  }

  async *#readVectors(sequences: readonly number[]) {
    const { log, clock } = this.options;
    for await (const found of fetchAll(log, { logId: this.logId, sequences, projection: "vectors" })) {
      const some = found.map(({ sequence, entry }) => ({ sequence, vectors: vectorsOf(entry) }));
      yield* some.filter(({ vectors }) => this.index.fits(vectors));
      await clock.yield();
    }
  }

  /** Removes what has expired by now; if that is much, it lets other work run, and all who ask meanwhile wait. */
  #expire(): Promise<void> | undefined {
    const expireRest = async () => {
      do await this.options.clock.yield();
      while (!this.#expireSome());
    };
    if (this.#expiring === undefined && !this.#expireSome()) {
      this.#expiring = expireRest().finally(() => {
        this.#expiring = undefined;
      });
    }
    return this.#expiring;
  }

  /** Removes some of what has expired; returns whether that was all. */
  #expireSome(): boolean {
    const nowMs = this.options.clock.wallMs();
    const expired: number[] = [];
    const { scores } = this.#expiries;
    while (expired.length < EXPIRED_AT_ONCE) {
      const [earliestMs = Number.POSITIVE_INFINITY] = scores;
      if (earliestMs > nowMs) break;
      this.#expiredMs = Math.max(this.#expiredMs, earliestMs);
      expired.push(this.#expiries.take());
    }
    if (expired.length > 0) this.index.noteExpired(this.#expiredMs);
    this.#remove(expired);
    return expired.length < EXPIRED_AT_ONCE;
  }

  /**
   * Begins where the indexes' files end, if they were made of this log. Until then it has applied nothing: a store that
   * was applied behind an unfinished restoration would be read and added again. If reading the log fails, the next call
   * goes on where this one ended.
   */
  async #restore(): Promise<void> {
    this.#restoredUpto ??= await this.#restoreFiles();
    while (this.index.gap !== undefined) {
      await this.#fill(this.index.gap);
      await this.options.clock.yield();
    }
    for await (const some of supersedingAndExpiring(this.options, this.logId, this.#restoredUpto)) {
      for (const { sequence, expiresAtMs } of some) {
        if (expiresAtMs !== undefined) this.#expiries.add(sequence, expiresAtMs);
      }
      // A process that died may not have taken them out of its files. No delete waits for that.
      this.#removeLiving(some.flatMap(({ supersedes = [] }) => supersedes));
    }
    this.applied = this.#restoredUpto;
    this.#isRestored = true;
  }

  /** Fills the index from its files; returns the number of the last entry that they cover, 0 if they are of no use. */
  async #restoreFiles(): Promise<number> {
    const { log, clock, timer = NO_TIMINGS } = this.options;
    this.#restored ??= {
      stored: await timer.time("restore", () => this.#breakOnFailure(this.index.restore())),
    };
    const { stored } = this.#restored;
    if (stored === undefined) return 0;
    if (!(await this.#agreesWithLog(stored))) {
      await this.index.reset();
      return 0;
    }
    for (const sequence of stored.removed) this.#unconfirmed.add(sequence);
    // Some of the files may be older than the others.
    const { applied, upto } = stored;
    const range = {
      logId: this.logId,
      from: applied + 1,
      upto,
      limit: RESTORE_MANY,
      projection: "header",
    } as const;
    for await (const entries of allEntries(log, range)) {
      this.#removeLiving(entries.flatMap(({ entry }) => forgottenBy(entry) ?? []));
      await clock.yield();
    }
    return upto;
  }

  /** True if the files of the index were made of this log, and lack nothing that has not expired. */
  async #agreesWithLog({ expiredMs, marks }: RestoredIndex): Promise<boolean> {
    const { log, clock } = this.options;
    // While the clock was ahead, the files lost what has not expired.
    if (expiredMs > clock.wallMs() + CLOCK_BACK_MS) return false;
    for (const { sequence, opId } of marks)
      if ((await entryAt(log, this.logId, sequence))?.opId !== opId) return false;
    return true;
  }

  /** Fills a gap with some of the memories that live in it. */
  async #fill({ part, after, upto }: Gap): Promise<void> {
    const { logId } = this;
    const limit = Math.min(RESTORE_MANY, upto - after);
    const projection = part === "words" ? "text" : "vectors";
    const { entries } = await this.options.log.read({ logId, from: after + 1, limit, projection });
    await this.#noteEnd();
    const rows: IndexRow[] = [];
    for (const { sequence, entry } of await visibleOnly(this.options, { logId }, entries.filter(isMemory))) {
      if (!("vectors" in entry)) rows.push({ sequence, memory: entry });
      else if (this.index.fits(vectorsOf(entry))) rows.push({ sequence, vectors: vectorsOf(entry) });
    }
    this.#checkBuilding();
    this.options.onCaughtUp?.(entries.length);
    await this.index.fill(rows, entries.at(-1)?.sequence ?? upto);
  }

  /** Notes the end of the log after some of its entries were read: those behind them may have erased some already. */
  async #noteEnd(): Promise<void> {
    const last = await this.options.log.last(this.logId);
    if (last !== undefined) this.index.noteEnd({ sequence: last.sequence, opId: last.entry.opId });
  }

  /**
   * True if the log, read to its end, has nothing visible that was removed from the index's files. Otherwise the database is
   * an older copy of itself, and is read again from its start.
   */
  async #isConfirmed(): Promise<boolean> {
    const sequences = [...this.#unconfirmed];
    let isOlder = false;
    for await (const visible of fetchVisible(this.options, {
      logId: this.logId,
      sequences,
      projection: "header",
    })) {
      isOlder = visible.length > 0;
      if (isOlder) break;
    }
    this.#unconfirmed.clear();
    if (!isOlder) return true;
    // First: what is stored while the index is emptied is read from the log, too.
    this.applied = 0;
    await this.#breakOnFailure(this.index.reset());
    return false;
  }

  /** Applies entries to the indexes. All changes are requested at once: an index applies them in that order. */
  async #add(entries: readonly Sequenced<Entry>[]): Promise<void> {
    const { onLost } = this.options;
    const rows: IndexRow[] = [];
    const changes: Change[] = [];
    for (const { sequence, entry } of entries) {
      changes.push(...changesBy(sequence, entry));
      // For memories only: the log that this one moves to has other entries from its end on.
      if (entry.op === "store" && !this.#forgotten.delete(sequence)) {
        if (entry.expiresAtMs !== undefined) this.#expiries.add(sequence, entry.expiresAtMs);
        const row = rowFor(this.index, { sequence, entry });
        rows.push(row);
        if (row.vectors === undefined) onLost?.(this.logId, { sequence, entry: UNFIT });
      } else if (isEnd(entry)) {
        this.hasEnded = true;
        this.end = entry;
      } else if (entry.op === "lost") onLost?.(this.logId, { sequence, entry });
    }
    const last = entries.at(-1) as Sequenced<Entry>;
    const mark = { sequence: last.sequence, opId: last.entry.opId };
    this.applied = last.sequence;
    const adding = this.index.add(rows, mark);
    const superseded = changes.filter(({ how }) => how === "superseded").map(({ target }) => target);
    const gone = changes.filter(({ how }) => how !== "superseded").map(({ target }) => target);
    for (const search of this.searches) {
      if (search.length <= CHANGES_MAX) search.push(...changes);
    }
    this.#superseded.supersede(superseded);
    this.#removeLiving(superseded);
    this.#remove(gone);
    await adding;
  }

  /** Removes memories: no search that begins now finds them. */
  #remove(sequences: readonly number[]): void {
    if (sequences.length === 0) return;
    this.#removeLiving(sequences);
    this.#superseded.remove(sequences);
  }

  #removeLiving(sequences: readonly number[]): void {
    if (sequences.length === 0) return;
    for (const sequence of sequences) this.#unconfirmed.delete(sequence);
    // `Indexes.wipe` waits for the files before a delete is answered, and fails if this has failed.
    this.index.remove(sequences).catch((error) => this.options.onTrouble?.(error));
  }

  readonly guard = async <T>(work: Promise<T>): Promise<T> => {
    const found = await this.#breakOnFailure(work);
    // A memory may be missing that was answered as stored just before an index failed, or all of a log that has
    // ended, whose index is emptied.
    if (this.broken) throw failed();
    if (this.hasEnded) throw new LogEndedError();
    return found;
  };

  /** Awaits work of an index; a failure breaks this replica. */
  async #breakOnFailure<T>(indexing: Promise<T>): Promise<T> {
    try {
      return await indexing;
    } catch (error) {
      // An index that is only too busy, or has no room, has lost nothing.
      if (error instanceof MemoryError && error.code !== "internal") throw error;
      // Callers learn only that it failed. One that is being stopped fails as it must.
      if (!this.broken && !this.#stopped) this.options.onTrouble?.(error);
      this.broken = true;
      throw failed(error);
    }
  }

  async #catchUp(): Promise<void> {
    for (let limit = READ_FEW; ; limit = READ_MANY) {
      // This process dropped the log before its end was read: no more entries are needed.
      if (this.hasEnded) return;
      if (!this.#isRestored) await this.#restore();
      this.#checkBuilding();
      const range = { logId: this.logId, from: this.applied + 1, limit, projection: "all" } as const;
      const { entries, complete } = await this.options.log.read(range);
      if (entries.length > 0) this.options.onCaughtUp?.(entries.length);
      if (!complete) await this.#noteEnd();
      // Reading many of them has held the main thread for some time already.
      if (entries.length > READ_FEW) await this.options.clock.yield();
      await this.apply(entries);
      if (complete && (await this.#isConfirmed())) {
        this.#isBuilt = true;
        return;
      }
      // A long log is read in slices, so that other calls are served in between.
      await this.options.clock.yield();
    }
  }

  /** Throws if an index that is still being built may grow no more. */
  #checkBuilding(): void {
    if (this.#stopped) throw unavailable("the service is stopping");
    const bytesMax = BUILDING_SHARE * this.options.indexMemoryBytesMax;
    if (!this.#isBuilt && this.bytes > bytesMax) throw tooLarge();
  }
}

/** Lists what an entry does to earlier memories. */
function changesBy(sequence: number, entry: Entry<"header">): Change[] {
  const target = forgottenBy(entry);
  const how = entry.op === "delete" ? ("deleted" as const) : ("replaced" as const);
  const changes: Change[] = target === undefined ? [] : [{ target, how, sequence }];
  const { supersedes = [] } = entry as Partial<Pick<Stored, "supersedes">>;
  return changes.concat(supersedes.map((each) => ({ target: each, how: "superseded", sequence })));
}

/** Error of a namespace whose index alone is larger than the memory for all. Trying again is of no use. */
export function tooLarge(): MemoryError {
  const message =
    "the index of this namespace is larger than the memory for all indexes (INDEX_MEMORY_BYTES_MAX): delete some of its memories, or ask the operator to raise it";
  return new MemoryError("resource_exhausted", message, { reason: "INDEX_TOO_LARGE" });
}

function failed(error?: unknown): MemoryError {
  return unavailable("the index of this namespace failed; the next call builds it anew", error);
}
