import type { Account } from "../../src/accounts/account.js";
import { unavailable } from "../../src/errors.js";
import { Pins } from "../../src/memory/models/pin.js";
import type { Claim } from "../../src/memory/ports/claims.js";
import type { Erasure } from "../../src/memory/ports/erasures.js";
import type { Entry, Stored } from "../../src/memory/ports/log.js";
import type { Pinned } from "../../src/memory/ports/model-version.js";
import type { Scope } from "../../src/memory/ports/names.js";
import type { Bill, Written } from "./bills.js";
import type { Runs, VirtualTime } from "./time.js";

/** Faults of a database, each with its probability per request. */
export interface Faults {
  /** The request never arrives, and the caller is told that it failed. */
  readonly lost: number;
  /** The request arrives but the answer does not: the caller is told that it failed. */
  readonly unanswered: number;
  /** The caller is told that it failed, and the request arrives long after that. */
  readonly late: number;
  /** The request arrives a second time, later. */
  readonly twice: number;
  /** The process stops before it sends the request, or before it hears the answer. */
  readonly pause: number;
}

export const CALM: Faults = { lost: 0, unanswered: 0, late: 0, twice: 0, pause: 0 };

/** Deliberate mistakes of a database. The checks must catch each of them. */
export interface Mistakes {
  /** An ordered batch continues after a number that was taken. */
  readonly unordered?: boolean;
  /** A read may miss what was written just before it. */
  readonly staleReads?: boolean;
}

/** A process as the database sees it. */
export interface Client extends Runs {
  resumesAtMs: number;
  aheadMs: number;
}

interface RequestOptions {
  /** True if it is never sent twice, as charges are not, because the drivers prevent that. */
  readonly isAtMostOnce?: boolean;
}

/** True content of one simulated database, and its connections. */
export class Database {
  readonly logs = new Map<string, Map<number, Entry>>();
  /** Current log of each name, by `account namespace`. */
  readonly heads = new Map<string, string>();
  readonly claims = new Map<string, Claim>();
  readonly erasures = new Map<string, Erasure>();
  readonly accounts = new Map<string, Account>();
  /** Keys of namespaces that were used. */
  readonly used = new Set<string>();
  /** Models that it was ever pinned to. */
  models: readonly Pinned[] = [];
  /** True if vectors of two models were compared. */
  hasMixed = false;
  /** True if a call that failed could not note in its claim that it was refunded. */
  hasLostRefund = false;
  /** Texts that were put into logs. */
  readonly written: Written[] = [];
  /** Bills of calls, by the signals that end them. */
  readonly bills = new WeakMap<AbortSignal, Pick<Bill, "number">>();
  #logIds = 0;

  constructor(
    readonly time: VirtualTime,
    public faults: Faults,
    readonly mistakes: Mistakes = {},
  ) {}

  /** Runs one request of a process: it travels and takes effect, and its answer travels back, or not. */
  async request<T>(
    process: Client,
    effect: () => T | Promise<T>,
    { isAtMostOnce = false }: RequestOptions = {},
  ): Promise<T> {
    this.#maybePause(process);
    await this.time.awake(process);
    const answer = this.#travel(process, effect, isAtMostOnce);
    // An answer that has no waiter is no unhandled failure.
    answer.catch(() => {});
    return this.time.whileAlive(process, answer);
  }

  async #travel<T>(process: Client, effect: () => T | Promise<T>, isAtMostOnce: boolean): Promise<T> {
    const { time, faults } = this;
    await this.#delay();
    if (time.chance(faults.lost)) throw unavailable("lost");
    if (time.chance(faults.late)) {
      time.at(this.#lateness(), () => void effect());
      throw unavailable("late");
    }
    if (!isAtMostOnce && time.chance(faults.twice)) time.at(this.#lateness(), () => void effect());
    const result = await effect();
    this.#maybePause(process);
    await this.#delay();
    if (time.chance(faults.unanswered)) throw unavailable("unanswered");
    return result;
  }

  /** Delays a message. Most are quick, and many others overtake some of them. */
  #delay(): Promise<void> {
    return this.time.sleep(this.time.between(0, this.time.chance(0.15) ? 200 : 5));
  }

  /** Lateness of a late write: a little, or longer than any caller waits. */
  #lateness(): number {
    return this.time.between(0, this.time.chance(0.3) ? 30_000 : 500);
  }

  #maybePause(process: Client): void {
    if (!this.time.chance(this.faults.pause)) return;
    process.resumesAtMs = Math.max(process.resumesAtMs, this.time.nowMs + pauseMs(this.time));
  }

  /** True if every namespace's log has vectors of the pinned model. */
  get isMoved(): boolean {
    const { models } = this;
    return (
      models.length === 0 || [...this.heads.values()].every((logId) => new Pins(models).isAtPresent(logId))
    );
  }

  logOf(logId: string): Map<number, Entry> {
    const log = this.logs.get(logId) ?? new Map<number, Entry>();
    this.logs.set(logId, log);
    return log;
  }

  /** Ids of the memories that a memory superseded, in the last log that it was stored in: one before may be dropped. */
  supersededBy(id: string): string[] {
    for (const log of [...this.logs.values()].reverse()) {
      const entries = [...log.values()];
      const found = entries.find(
        (entry) => (entry.op === "store" || entry.op === "erased") && entry.id === id,
      );
      if (found === undefined || !("supersedes" in found)) continue;
      return (found.supersedes ?? []).map((sequence) => (log.get(sequence) as Stored).id);
    }
    return [];
  }

  newLogId(): string {
    return `i${++this.#logIds}`;
  }
}

/**
 * Duration of a container's pause: a moment, past every deadline, or past everything that waits for the dead.
 */
function pauseMs(time: VirtualTime): number {
  const kind = time.random();
  if (kind < 0.4) return time.between(0, 300);
  return kind < 0.7 ? time.between(1_000, 40_000) : time.between(60_000, 240_000);
}

export function keyOf({ accountId, namespace }: Scope): string {
  return `${accountId} ${namespace}`;
}

export function scopeOf(key: string): Scope {
  const [accountId = "", namespace = ""] = key.split(" ");
  return { accountId, namespace };
}
