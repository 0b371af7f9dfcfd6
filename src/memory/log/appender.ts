import { isNotWritable, isUnavailable, type MemoryError, unavailable } from "../../errors.js";
import { weightOf } from "../ports/bounds.js";
import { type Appended, type Entry, entryAt } from "../ports/log.js";
import type { DomainPorts } from "../ports/ports.js";
import { NO_TIMINGS, type SharedStep, type StepTimer } from "../ports/step-timer.js";
import { type Conditional, type Decision, LogAdvancedError } from "../versions/condition.js";
import { LogEndedError, type Replica } from "./replica.js";

/**
 * Number of decided entries after which other processes get time for one: the process that wrote last has nothing to
 * read before it decides again, so without pauses the others would always be too late.
 */
const DECIDED_MAX = 32;
/** That time, in decisions of this process, on top of the longest pause after a lost race: others read the log first. */
const OTHERS_DECISIONS = 3;
const OTHERS_TIME_MS_MAX = 500;

/** Maximum number of entries in one write, and of their bytes: recalls wait until the indexes have them. */
const GROUP_MAX = 64;
const GROUP_BYTES_MAX = 524_288;
/** Maximum number of waiting entries in one namespace, and of their bytes. */
export const WAITING_MAX = 1024;
const WAITING_BYTES_MAX = 33_554_432;
/** Maximum bytes of waiting entries in all namespaces of a process. */
const ALL_WAITING_BYTES_MAX = 134_217_728;
/** Time that an append is retried before its outcome counts as unknown. */
export const APPEND_TIMEOUT_MS = 10_000;
/** Maximum of the random pause after a lost race or a failed write. */
const RETRY_PAUSE_MS_MAX = 50;

interface PendingAppend {
  readonly what: Appended | Conditional;
  readonly bytes: number;
  readonly deadlineMs: number;
  /** True if it may be written; false while the log is asked whether it holds the entry already. */
  readonly ready: boolean;
  resolve(existing: Entry<"header">): void;
  reject(error: unknown): void;
}

interface AppenderOptions extends Pick<DomainPorts, "log" | "secondaryIndexes" | "clock"> {
  readonly timer?: StepTimer<SharedStep> | undefined;
  /** Bytes of the waiting entries of all appenders of a process. */
  readonly allWaiting?: { bytes: number } | undefined;
  /** True if no other process can write to the log. */
  readonly exclusive?: boolean | undefined;
}

/**
 * Appends to one log, with one write in flight at a time. Every attempt is an insert at the number after the
 * last one applied. However a write ended, reading on from there tells its outcome: entries of ours that
 * appear are done, and all others are written again at later numbers.
 */
export class Appender {
  readonly #waiting = new Map<string, PendingAppend>();
  readonly #allWaiting: { bytes: number };
  /** Changes for which the log was read to its end after they had arrived. */
  readonly #current = new WeakSet<Conditional>();
  /** Number of entries decided since another process had its time, and when the first of them began. */
  #decided = 0;
  #decidingSinceMs = 0;
  #waitingBytes = 0;
  #writing = false;
  /** Resolves when the indexes have what was written last. */
  #indexed: Promise<void> = Promise.resolve();

  constructor(
    readonly replica: Replica,
    private readonly options: AppenderOptions,
  ) {
    this.#allWaiting = options.allWaiting ?? { bytes: 0 };
    replica.onApplied = (entry) => this.#settle(entry, (waiting) => waiting.resolve(entry));
  }

  /** Number of entries that are not in the log yet. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Appends an entry, or what a condition decides: it decides again if another entry comes first. Resolves once
   * the entry is in the log for good and applied to the replica, with the entry as the log has it: of several
   * attempts at one operation, the first that arrived; or with the memory that makes it needless.
   *
   * `idempotent` is for what another call or process may have appended before: it is in the log once then, and a memory
   * that was erased since is not written again.
   *
   * @throws MemoryError `unavailable` if too many wait, or if the outcome stayed unknown; also what a condition
   * throws: then nothing is written, now or later. LogEndedError if the log has ended and the entry is not in it.
   */
  append(what: Appended | Conditional, { idempotent = false } = {}): Promise<Entry<"header">> {
    const [existing] = this.appendAll([what], { idempotent });
    return existing as Promise<Entry<"header">>;
  }

  /** Appends several like `append`, in their order, and asks the log once for all of them. */
  appendAll(
    all: readonly (Appended | Conditional)[],
    { idempotent }: { idempotent: boolean },
  ): Promise<Entry<"header">>[] {
    // They wait before the log is asked: an entry that arrives after the question shows when it is applied.
    const existing = all.map((what) => this.#wait(what, { ready: !idempotent }));
    if (idempotent) void this.#lookUp(all);
    return existing;
  }

  #wait(what: Appended | Conditional, { ready }: { ready: boolean }): Promise<Entry<"header">> {
    return new Promise((resolve, reject) => {
      this.#expectSpace();
      // Another attempt at the same operation: both share an entry and a deadline, and both get the outcome.
      const same = this.#take(what);
      const bytes = isConditional(what) ? what.bytes : weightOf(what);
      this.#count(bytes);
      this.#waiting.set(what.opId, {
        what,
        bytes,
        deadlineMs: same?.deadlineMs ?? this.options.clock.nowMs() + APPEND_TIMEOUT_MS,
        ready: ready || same?.ready === true,
        resolve(existing) {
          same?.resolve(existing);
          resolve(existing);
        },
        reject(error) {
          same?.reject(error);
          reject(error);
        },
      });
      void this.#writeAll();
    });
  }

  /** Settles the entries that the log holds already, and releases all others for writing. */
  async #lookUp(operations: readonly Pick<Appended, "opId">[]): Promise<void> {
    const { log, secondaryIndexes } = this.options;
    const { logId } = this.replica;
    try {
      const opIds = operations.map(({ opId }) => opId);
      const numbers = await secondaryIndexes.findByOperation({ logId, opIds });
      for (const opId of opIds) {
        const sequence = numbers.get(opId);
        const found = sequence === undefined ? undefined : await entryAt(log, logId, sequence);
        const waiting = this.#waiting.get(opId);
        if (found !== undefined) this.#settle({ opId }, ({ resolve }) => resolve(found));
        else if (waiting !== undefined) this.#waiting.set(opId, { ...waiting, ready: true });
      }
    } catch (error) {
      for (const { opId } of operations) this.#settle({ opId }, ({ reject }) => reject(error));
    }
    await this.#writeAll();
  }

  /** Entries that may be written, oldest first. */
  get #ready(): PendingAppend[] {
    return [...this.#waiting.values()].filter(({ ready }) => ready);
  }

  /** @throws MemoryError `unavailable` if too much waits. */
  #expectSpace(): void {
    if (this.#waiting.size >= WAITING_MAX) {
      throw unavailable(`${WAITING_MAX} stores are waiting for this namespace already`);
    }
    if (this.#waitingBytes >= WAITING_BYTES_MAX || this.#allWaiting.bytes >= ALL_WAITING_BYTES_MAX) {
      throw unavailable("too much that is to be stored is waiting already");
    }
  }

  async #writeAll(): Promise<void> {
    if (this.#writing || this.#ready.length === 0) return;
    this.#writing = true;
    // A replica that has applied nothing reads first: its snapshot must come before its first entry.
    let readsFirst = this.replica.applied === 0;
    while (this.#ready.length > 0) {
      try {
        if (readsFirst) await this.replica.current();
        readsFirst = false;
        await this.#writeGroup();
        if (this.#decided >= DECIDED_MAX && this.#ready.length > 0) await this.#letOthersDecide();
      } catch (error) {
        // Only the overdue ones if that may pass soon. A full disk stays full, and a lost file is lost.
        const { retryAfterMs = 0 } = error as Partial<MemoryError>;
        const isBrief = isUnavailable(error) && !isNotWritable(error) && retryAfterMs < APPEND_TIMEOUT_MS;
        this.#reject({ overdueOnly: isBrief }, () => error);
        await this.#pause();
        readsFirst = true;
      }
    }
    this.#writing = false;
  }

  /** Makes one attempt. None begins after an entry's deadline: takeovers of keys rely on it. */
  async #writeGroup(): Promise<void> {
    // A search waits for all that was written before it, so no more than one group may wait for the indexes.
    await this.#indexed;
    this.#reject({ overdueOnly: true }, () =>
      unavailable(`the memory could not be stored within ${APPEND_TIMEOUT_MS} ms`),
    );
    // The number after a log's last entry is free and must stay free.
    if (this.replica.hasEnded) throw new LogEndedError();
    const [first] = this.#ready;
    if (first === undefined) return;
    return isConditional(first.what) ? this.#writeDecided(first.what) : this.#write(this.#group());
  }

  /** Decides an entry and writes it alone: it depends on all that comes before it. */
  async #writeDecided(conditional: Conditional): Promise<void> {
    const { logId, applied } = this.replica;
    const { log, secondaryIndexes, clock } = this.options;
    if (this.#decided === 0) this.#decidingSinceMs = clock.nowMs();
    let decision: Decision;
    try {
      decision = await conditional.decide({ log, secondaryIndexes, logId, from: applied + 1 });
    } catch (error) {
      if (error instanceof LogAdvancedError) {
        this.#decided = 0;
        return this.replica.current();
      }
      if (isUnavailable(error)) throw error;
      return this.#settleUnwritten(conditional, ({ reject }) => reject(error));
    }
    if ("existing" in decision) {
      const { existing } = decision;
      return this.#settleUnwritten(conditional, ({ resolve }) => resolve(existing));
    }
    this.#decided++;
    // The decision took time: others may have written, and its deadline may be over.
    const waiting = this.#waiting.get(conditional.opId);
    const isOverdue = waiting === undefined || waiting.deadlineMs < clock.nowMs();
    if (!isOverdue && this.replica.applied === applied) await this.#write([decision.entry]);
  }

  /**
   * Settles a change that writes nothing. Without a write, nothing proves that the log has not ended behind what the
   * decision saw: if another process has ended it, the change is decided again in the next log.
   */
  async #settleUnwritten(conditional: Conditional, how: (waiting: PendingAppend) => void): Promise<void> {
    const { applied } = this.replica;
    if (!this.#current.has(conditional)) await this.replica.current();
    const isDecided = this.#current.has(conditional) || this.replica.applied === applied;
    this.#current.add(conditional);
    if (isDecided) this.#settle(conditional, how);
  }

  async #write(entries: readonly Appended[]): Promise<void> {
    const { logId, applied } = this.replica;
    const from = applied + 1;
    const { log, timer = NO_TIMINGS } = this.options;
    const inserted = await timer.time("write", () => log.append({ logId, from, entries }));
    const ours = entries.slice(0, inserted).map((entry, i) => ({ sequence: from + i, entry }));
    // Not awaited: the log has the entries, and a store promises no more. A replica whose index failed
    // reports that itself, and is replaced.
    this.#indexed = this.replica.apply(ours).catch(() => {});
    if (inserted === entries.length) return;
    this.#decided = 0;
    await this.#pause();
    // Reads on, and settles the entries that turn out to be in the log.
    await this.replica.current();
  }

  /** Chooses the next entries to write, of which the last may exceed their bytes. */
  #group(): Appended[] {
    const group: Appended[] = [];
    let left = GROUP_BYTES_MAX;
    for (const { what, bytes } of this.#ready) {
      if (group.length === GROUP_MAX || left <= 0 || isConditional(what)) break;
      group.push(what);
      left -= bytes;
    }
    return group;
  }

  /** Rejects entries. This runs before every write, so it makes an error only if one is needed. */
  #reject({ overdueOnly }: { overdueOnly: boolean }, why: () => unknown): void {
    const nowMs = this.options.clock.nowMs();
    for (const { what, deadlineMs } of [...this.#waiting.values()]) {
      if (!overdueOnly || deadlineMs < nowMs) this.#settle(what, (waiting) => waiting.reject(why()));
    }
  }

  async #pause(): Promise<void> {
    const { clock } = this.options;
    await clock.sleep(clock.random() * RETRY_PAUSE_MS_MAX);
  }

  /** Leaves other processes, where there may be any, time to decide an entry. */
  async #letOthersDecide(): Promise<void> {
    const { clock, exclusive = false } = this.options;
    if (exclusive) return;
    const eachMs = (clock.nowMs() - this.#decidingSinceMs) / this.#decided;
    this.#decided = 0;
    const othersMs = RETRY_PAUSE_MS_MAX + eachMs * OTHERS_DECISIONS;
    await clock.sleep(Math.min(othersMs, OTHERS_TIME_MS_MAX));
  }

  #settle(entry: Pick<Entry<"header">, "opId">, how: (waiting: PendingAppend) => void): void {
    const waiting = this.#take(entry);
    if (waiting !== undefined) how(waiting);
  }

  /** Removes an entry from the waiting ones. */
  #take({ opId }: Pick<Entry<"header">, "opId">): PendingAppend | undefined {
    const waiting = this.#waiting.get(opId);
    this.#waiting.delete(opId);
    if (waiting !== undefined) this.#count(-waiting.bytes);
    return waiting;
  }

  #count(bytes: number): void {
    this.#waitingBytes += bytes;
    this.#allWaiting.bytes += bytes;
  }
}

function isConditional(what: Appended | Conditional): what is Conditional {
  return "decide" in what;
}
