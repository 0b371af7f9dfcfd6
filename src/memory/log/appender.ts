import { isNotWritable, MemoryError, unavailable } from "../../errors.js";
import { SLICE_BYTES_MAX, weightOf } from "../pacing/bounds.js";
import type { Clock } from "../pacing/clock.js";
import type { Appended, Entry, Log, Stored } from "../ports/log.js";
import { type SharedStep, type Steps, untimed } from "../ports/steps.js";
import { type Replica, Sealed } from "./replica.js";

/** Entries written in one go, at most a slice in bytes; what waits meanwhile goes with the next. */
const GROUP_MAX = 64;
/** Entries that may wait for their turn in one namespace, and what they may weigh. */
export const WAITING_MAX = 1024;
const WAITING_BYTES_MAX = 33_554_432;
/** What all entries that wait may weigh, in all namespaces of a process. */
const ALL_WAITING_BYTES_MAX = 134_217_728;
/** How long an append is tried again before its outcome is called unknown. */
export const APPEND_TIMEOUT_MS = 10_000;
/** The pause after a lost race or a failed write, at random up to this. */
const RETRY_PAUSE_MS_MAX = 50;

/** The bytes of what waits in all namespaces of a process. */
export class WaitingBytes {
  #bytes = 0;

  get isFull(): boolean {
    return this.#bytes >= ALL_WAITING_BYTES_MAX;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }
}

interface PendingAppend {
  readonly entry: Appended;
  readonly bytes: number;
  readonly deadlineMs: number;
  /** It may be written; false while the log is asked whether it holds the entry already. */
  readonly ready: boolean;
  resolve(standing: Entry<"head">): void;
  reject(error: unknown): void;
}

export interface AppenderOptions {
  readonly log: Log;
  readonly clock: Clock;
  readonly steps?: Steps<SharedStep> | undefined;
  /** Shared by all appenders of a process. */
  readonly allWaiting?: WaitingBytes | undefined;
}

/**
 * Appends to one log's log, one write in flight at a time. Every attempt is an insert at the
 * number after the last one applied, so whichever way a write ended, reading on from there tells:
 * an entry of ours that comes by is done, and all others are written again, further on.
 */
export class Appender {
  readonly #waiting = new Map<string, PendingAppend>();
  readonly #allWaiting: WaitingBytes;
  #waitingBytes = 0;
  #writing = false;

  constructor(
    readonly replica: Replica,
    private readonly options: AppenderOptions,
  ) {
    this.#allWaiting = options.allWaiting ?? new WaitingBytes();
    replica.onApplied = (entry) => this.#settle(entry, (waiting) => waiting.resolve(entry));
  }

  /** Entries that are not in the log yet. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves once the entry is in the log for good and applied to the replica, with the entry as the log
   * has it: of several attempts at one operation the first that arrived.
   *
   * @throws MemoryError `unavailable` when too many wait, or when the outcome stayed unknown; Sealed
   * when the namespace was dropped and the entry is not in the log.
   */
  append(entry: Appended): Promise<Entry<"head">> {
    return this.#wait(entry, { ready: true });
  }

  /**
   * As `append`, for a memory that an attempt of another call, or of another process, may have written
   * before: such a memory is in the log once, and one that was erased since is not written again.
   */
  async appendOnce(entry: Stored): Promise<Entry<"head">> {
    // It waits before the log is asked: an entry that arrives after the question is seen when it is applied.
    const standing = this.#wait(entry, { ready: false });
    void this.#lookUp(entry);
    return standing;
  }

  #wait(entry: Appended, { ready }: { ready: boolean }): Promise<Entry<"head">> {
    const refusal = this.#refusal();
    if (refusal !== undefined) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      // Another attempt at the same operation: one entry, one deadline, and both are told.
      const same = this.#take(entry);
      const bytes = weightOf(entry);
      this.#count(bytes);
      this.#waiting.set(entry.opId, {
        entry,
        bytes,
        deadlineMs: same?.deadlineMs ?? this.options.clock.nowMs() + APPEND_TIMEOUT_MS,
        ready: ready || same?.ready === true,
        resolve: (standing) => [same?.resolve(standing), resolve(standing)],
        reject: (error) => [same?.reject(error), reject(error)],
      });
      void this.#writeAll();
    });
  }

  /** Settles an entry that the log holds already, and lets any other be written. */
  async #lookUp({ opId, id }: Stored): Promise<void> {
    const { log } = this.options;
    const { logId } = this.replica;
    try {
      const from = await log.numberOf({ logId, id });
      const range = from === undefined ? undefined : { logId, from, limit: 1, what: "head" as const };
      const [found] = range === undefined ? [] : (await log.read(range)).entries;
      const waiting = this.#waiting.get(opId);
      if (found !== undefined) this.#settle({ opId }, ({ resolve }) => resolve(found.entry));
      else if (waiting !== undefined) this.#waiting.set(opId, { ...waiting, ready: true });
    } catch (error) {
      this.#settle({ opId }, ({ reject }) => reject(error));
    }
    await this.#writeAll();
  }

  /** Those that may be written, oldest first. */
  get #ready(): PendingAppend[] {
    return [...this.#waiting.values()].filter(({ ready }) => ready);
  }

  #refusal(): MemoryError | undefined {
    if (this.#waiting.size >= WAITING_MAX) {
      return unavailable(`${WAITING_MAX} stores are waiting for this namespace already`);
    }
    if (this.#waitingBytes < WAITING_BYTES_MAX && !this.#allWaiting.isFull) return undefined;
    return unavailable("too much that is to be stored is waiting already");
  }

  async #writeAll(): Promise<void> {
    if (this.#writing || this.#ready.length === 0) return;
    this.#writing = true;
    // A replica that has applied nothing knows nothing: its snapshot must come before its first entry.
    let faulty = this.replica.applied === 0 ? await this.#look() : undefined;
    while (this.#ready.length > 0) {
      if (faulty !== undefined) {
        this.#giveUp(faulty);
        await this.#pause();
        faulty = await this.#look();
      } else {
        faulty = await this.#writeGroup();
      }
    }
    this.#writing = false;
  }

  /** One attempt; answers what went wrong. No attempt begins after an entry's deadline: others rely on it. */
  async #writeGroup(): Promise<unknown> {
    this.#reject({ overdueOnly: true }, () =>
      unavailable(`the memory could not be stored within ${APPEND_TIMEOUT_MS} ms`),
    );
    const { logId, applied, sealed } = this.replica;
    // The number after a log's last entry is free, and must stay so.
    if (sealed) return new Sealed();
    const entries = this.#group();
    const from = applied + 1;
    if (entries.length === 0) return undefined;
    try {
      const { log, steps = untimed } = this.options;
      const inserted = await steps.time("write", () => log.append({ logId, from, entries }));
      const ours = entries.slice(0, inserted).map((entry, i) => ({ sequence: from + i, entry }));
      // Not awaited: the log has them, and that is all a store promises. A replica whose index failed
      // says so itself, and is replaced.
      this.replica.apply(ours).catch(() => {});
      if (inserted === entries.length) return undefined;
      await this.#pause();
      return await this.#look();
    } catch (error) {
      return error;
    }
  }

  /** The next entries to write: no more than fit into one slice, of which the last may reach beyond. */
  #group(): Appended[] {
    const group: Appended[] = [];
    let left = SLICE_BYTES_MAX;
    for (const { entry, bytes } of this.#ready) {
      if (group.length === GROUP_MAX || left <= 0) break;
      group.push(entry);
      left -= bytes;
    }
    return group;
  }

  /** Reads on: settles what turns out to be in the log. Answers what went wrong. */
  async #look(): Promise<unknown> {
    try {
      await this.replica.current();
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** Rejects what need not be tried again: all of it, unless the database is only away. */
  #giveUp(error: unknown): void {
    const away = error instanceof MemoryError && error.code === "unavailable";
    // A disk that is full still is when it is asked again: callers are told at once.
    this.#reject({ overdueOnly: away && !isNotWritable(error) }, () => error);
  }

  /** An error is made only for whom there is: this is asked at every write. */
  #reject({ overdueOnly }: { overdueOnly: boolean }, why: () => unknown): void {
    const nowMs = this.options.clock.nowMs();
    for (const { entry, deadlineMs } of [...this.#waiting.values()]) {
      if (!overdueOnly || deadlineMs < nowMs) this.#settle(entry, (waiting) => waiting.reject(why()));
    }
  }

  async #pause(): Promise<void> {
    const { clock } = this.options;
    await clock.sleep(clock.random() * RETRY_PAUSE_MS_MAX);
  }

  #settle(entry: Pick<Entry<"head">, "opId">, how: (waiting: PendingAppend) => void): void {
    const waiting = this.#take(entry);
    if (waiting !== undefined) how(waiting);
  }

  /** Takes an entry out of what waits. */
  #take({ opId }: Pick<Entry<"head">, "opId">): PendingAppend | undefined {
    const waiting = this.#waiting.get(opId);
    this.#waiting.delete(opId);
    if (waiting !== undefined) this.#count(-waiting.bytes);
    return waiting;
  }

  #count(bytes: number): void {
    this.#waitingBytes += bytes;
    this.#allWaiting.add(bytes);
  }
}
