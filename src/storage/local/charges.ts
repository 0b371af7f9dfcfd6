import { randomBytes } from "node:crypto";
import type { Database } from "lmdb";
import type { Account } from "../../accounts/account.js";
import { committed, inTime, type Writes, writesOf } from "./durably.js";

/** Time that charges are collected before they are written together. */
const GROUP_MS = 10;
/** Age of the oldest unwritten charge, and their number, from which further charges wait for the disk. */
export const UNWRITTEN_MS_MAX = 100;
export const UNWRITTEN_CALLS_MAX = 1_000;
const RETRY_MS = 1_000;
/** Time after a write from which no read can see the state before it. */
const OLD_READS_MS = 1_000;

/** An account as it is written, without the latest charges. */
export interface ChargedAccount extends Account {
  /**
   * The process that has charged it last, and how many calls that process had taken from it by then, less refunded;
   * missing before the first charge.
   */
  readonly group?: string | undefined;
}

/**
 * Counts charges in memory and writes them in groups, so that no call waits for its charge. Only the process
 * that owns the database may do so, and only if it asks `unwrittenOf` about each account that it reads.
 *
 * Each written account says how many calls of this process it includes. So it is known of every state of the
 * database, also of one from before a commit or after a failed one, which charges it includes: none counts twice or
 * is missed.
 */
export class Charges {
  readonly #process = `${randomBytes(8).toString("hex")}-`;
  /** Calls that this process has taken from accounts, less refunded; none of accounts that include all of them. */
  readonly #taken = new Map<string, number>();
  /** Accounts with charges that may be unwritten. */
  readonly #changed = new Set<string>();
  /** Number of charges so far, of those that some transaction has taken, and of those that are written. */
  #count = 0;
  #sent = 0;
  #written = 0;
  /** Time of the first charge that is not written, or somewhat before. */
  #sinceMs = 0;
  /** True while a transaction is queued that has not begun: it takes all charges so far when it does. */
  #queued = false;
  #sending: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  readonly #writes: Writes;

  constructor(private readonly accounts: Database<ChargedAccount, string>) {
    this.#writes = writesOf(accounts);
  }

  /** Returns how many calls were taken from an account, less refunded, that this state does not include. */
  unwrittenOf(account: ChargedAccount): number {
    const taken = this.#taken.get(account.id);
    return taken === undefined ? 0 : taken - this.#includedIn(account);
  }

  /** Takes calls from an account, or refunds them if the number is negative. */
  add(account: ChargedAccount, calls: number): void {
    this.#taken.set(account.id, (this.#taken.get(account.id) ?? this.#includedIn(account)) + calls);
    this.#changed.add(account.id);
    if (this.#count === this.#written) this.#sinceMs = performance.now();
    this.#count += Math.abs(calls);
    this.#timer ??= setTimeout(() => this.send(), GROUP_MS).unref();
  }

  /**
   * True if too many charges are unwritten, or one for too long: they would be lost together if the
   * process died. Further ones must wait for `write` then.
   *
   * @throws MemoryError `unavailable` while writes fail.
   */
  get isBacklogged(): boolean {
    this.#writes.expectWritable();
    const unwritten = this.#count - this.#written;
    return (
      unwritten >= UNWRITTEN_CALLS_MAX ||
      (unwritten > 0 && performance.now() - this.#sinceMs > UNWRITTEN_MS_MAX)
    );
  }

  /**
   * Writes all charges so far. Resolves when they would survive the death of this process.
   *
   * @throws MemoryError `unavailable`; it is tried again then.
   */
  async write(): Promise<void> {
    if (this.#count === this.#written) return;
    this.send();
    await inTime(this.#sending);
  }

  /** Queues a transaction for all charges so far, so that it precedes those that are queued after this. */
  send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#count === this.#sent || this.#queued) return;
    this.#sending = this.#send();
    // Its failure reaches those who await it.
    this.#sending.catch(() => {});
  }

  /** Writes all charges so far, and tries no more if that fails. */
  async close(): Promise<void> {
    await this.write().finally(() => {
      clearTimeout(this.#timer);
      this.#sent = this.#count;
    });
  }

  async #send(): Promise<void> {
    this.#queued = true;
    const written = new Map<string, number>();
    let [count, begunMs] = [0, 0];
    try {
      await committed(this.accounts, () => {
        this.#queued = false;
        [count, begunMs] = [this.#count, performance.now()];
        this.#sent = count;
        for (const accountId of this.#changed) {
          const taken = this.#taken.get(accountId) as number;
          const found = this.#find(accountId);
          written.set(accountId, taken);
          if (found === undefined) continue;
          const callsLeft = found.callsLeft - this.unwrittenOf(found);
          this.accounts.putSync(accountId, { ...found, callsLeft, group: `${this.#process}${taken}` });
        }
      });
    } catch (error) {
      this.#queued = false;
      this.#sent = this.#written;
      this.#timer ??= setTimeout(() => this.send(), RETRY_MS).unref();
      throw error;
    }
    this.#written = Math.max(this.#written, count);
    this.#sinceMs = begunMs;
    const unchanged = [...written].filter(([id, taken]) => this.#taken.get(id) === taken);
    for (const [id] of unchanged) this.#changed.delete(id);
    setTimeout(() => {
      for (const [id, taken] of unchanged) {
        if (!this.#changed.has(id) && this.#taken.get(id) === taken) this.#taken.delete(id);
      }
    }, OLD_READS_MS).unref();
  }

  /** Calls of this process that a state of an account includes. */
  #includedIn({ group = "" }: ChargedAccount): number {
    return group.startsWith(this.#process) ? Number(group.slice(this.#process.length)) : 0;
  }

  /** Finds an account as it is written; a damaged one cannot be charged either. */
  #find(accountId: string): ChargedAccount | undefined {
    try {
      return this.accounts.get(accountId);
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }
}
