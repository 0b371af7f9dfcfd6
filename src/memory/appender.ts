import { setTimeout as sleep } from "node:timers/promises";
import { MemoryError, unavailable } from "../errors.js";
import type { Entry, Log } from "./log.js";
import type { Replica } from "./replica.js";

/** Entries written in one go; what waits meanwhile goes with the next. */
const GROUP_MAX = 64;
/** Entries that may wait for their turn in one namespace. */
const WAITING_MAX = 1024;
/** How long an append is tried again before its outcome is called unknown. */
const APPEND_TIMEOUT_MS = 10_000;
/** The pause after a lost race or a failed write, at random up to this. */
const RETRY_PAUSE_MS_MAX = 50;

interface Waiting {
  readonly entry: Entry;
  readonly deadlineMs: number;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Appends to one incarnation's log, one write in flight at a time. Every attempt is an insert at the
 * number after the last one applied, so whichever way a write ended, reading on from there tells:
 * an entry of ours that comes by is done, and all others are written again, further on.
 */
export class Appender {
  readonly #waiting = new Map<string, Waiting>();
  #writing = false;

  constructor(
    readonly replica: Replica,
    private readonly log: Log,
  ) {
    replica.onApplied = (entry) => this.#settle(entry.opId, (waiting) => waiting.resolve());
  }

  /**
   * Resolves once the entry is in the log for good and applied to the replica.
   *
   * @throws MemoryError `unavailable` when too many wait, or when the outcome stayed unknown.
   */
  append(entry: Entry): Promise<void> {
    if (this.#waiting.size >= WAITING_MAX) {
      return Promise.reject(unavailable(`${WAITING_MAX} stores are waiting for this namespace already`));
    }
    return new Promise((resolve, reject) => {
      const deadlineMs = performance.now() + APPEND_TIMEOUT_MS;
      this.#waiting.set(entry.opId, { entry, deadlineMs, resolve, reject });
      void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    if (this.#writing) return;
    this.#writing = true;
    while (this.#waiting.size > 0) {
      try {
        await this.#writeGroup();
      } catch (error) {
        await this.#recover(error);
      }
    }
    this.#writing = false;
  }

  async #writeGroup(): Promise<void> {
    const { incarnation, applied } = this.replica;
    const entries = [...this.#waiting.values()].slice(0, GROUP_MAX).map(({ entry }) => entry);
    const from = applied + 1;
    const inserted = await this.log.append({ incarnation, from, entries });
    const ours = entries.slice(0, inserted).map((entry, i) => ({ sequence: from + i, entry }));
    // Not awaited: the log has them, and that is all a store promises. A replica whose index failed
    // says so itself, and is replaced.
    this.replica.apply(ours).catch(() => {});
    if (inserted === entries.length) return;
    await this.#pause();
    await this.replica.current();
  }

  /** After a write whose outcome is unknown: give up what is overdue, then look what the log says. */
  async #recover(error: unknown): Promise<void> {
    const faulty = !(error instanceof MemoryError && error.code === "unavailable");
    for (const [opId, { deadlineMs }] of this.#waiting) {
      if (faulty || deadlineMs < performance.now()) this.#settle(opId, (waiting) => waiting.reject(error));
    }
    await this.#pause();
    await this.replica.current().catch(() => {
      // The next round meets the same trouble and is bounded by the deadlines.
    });
  }

  async #pause(): Promise<void> {
    await sleep(Math.random() * RETRY_PAUSE_MS_MAX);
  }

  #settle(opId: string, how: (waiting: Waiting) => void): void {
    const waiting = this.#waiting.get(opId);
    if (waiting === undefined) return;
    this.#waiting.delete(opId);
    how(waiting);
  }
}
