import { randomBytes } from "node:crypto";
import type { Database } from "lmdb";
import type { Account } from "../../accounts/account.js";
import { committed, inTime, type Writes, writesOf } from "./durably.js";

/** Time that charges are collected before they are written together. */
const GROUP_MS = 10;
/** Age of the oldest unwritten charge, and their number, from which further charges wait for the disk. */
export const BEHIND_MS = 100;
export const BEHIND_CALLS = 1_000;
const RETRY_MS = 1_000;

/** An account as it is written, without the latest charges. */
export interface ChargedAccount extends Account {
  /** The last group of charges that `callsLeft` includes; missing before the first one. */
  readonly group?: string | undefined;
}

/** Calls of some accounts, taken less refunded, that are written in one transaction. */
class Group {
  readonly calls = new Map<string, number>();
  /** Time of the first charge; infinite before it. */
  sinceMs = Number.POSITIVE_INFINITY;
  count = 0;

  constructor(readonly id: string) {}

  add(accountId: string, calls: number): void {
    this.calls.set(accountId, (this.calls.get(accountId) ?? 0) + calls);
  }
}

/**
 * Counts charges in memory and writes them in groups, so that no call waits for its charge. Only the process
 * that owns the database may do so, and only if it asks `unwrittenOf` about each account that it reads.
 *
 * Each written account names the last group in it. So it is known of every state of the database, also of
 * one from before a commit or after a failed one, which charges it includes: none counts twice or is missed.
 * Transactions run in the order in which they are queued, and the group of a failed one is written again.
 */
export class Charges {
  readonly #process = randomBytes(8).toString("hex");
  #number = 0;
  /** Calls that are in no transaction yet. */
  #pending = this.#nextGroup();
  /** Groups in transactions whose outcome is unknown, oldest first. */
  #groups: Group[] = [];
  /** True while a transaction is queued that has not begun: it takes all that is pending when it does. */
  #queued = false;
  #sending: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  readonly #writes: Writes;

  constructor(private readonly accounts: Database<ChargedAccount, string>) {
    this.#writes = writesOf(accounts);
  }

  /** Returns how many calls were taken from an account, less refunded, that this state does not include. */
  unwrittenOf(accountId: string, { group: last }: Pick<ChargedAccount, "group">): number {
    let unwritten = this.#pending.calls.get(accountId) ?? 0;
    for (let i = this.#groups.length - 1; i >= 0; i--) {
      const { id, calls } = this.#groups[i] as Group;
      if (id === last) break;
      unwritten += calls.get(accountId) ?? 0;
    }
    return unwritten;
  }

  /** Takes calls from an account, or refunds them if the number is negative. */
  add(accountId: string, calls: number): void {
    this.#pending.add(accountId, calls);
    if (this.#pending.count === 0) this.#pending.sinceMs = performance.now();
    this.#pending.count += Math.abs(calls);
    this.#timer ??= setTimeout(() => this.send(), GROUP_MS).unref();
  }

  /**
   * True if too many charges are unwritten, or one for too long: they would be lost together if the
   * process died. Further ones must wait for `write` then.
   *
   * @throws MemoryError `unavailable` while writes fail.
   */
  get isBehind(): boolean {
    this.#writes.expectWritable();
    const { sinceMs } = this.#groups[0] ?? this.#pending;
    const count = this.#groups.reduce((sum, group) => sum + group.count, this.#pending.count);
    return count >= BEHIND_CALLS || performance.now() - sinceMs > BEHIND_MS;
  }

  /**
   * Writes all charges so far. Resolves when they would survive the death of this process.
   *
   * @throws MemoryError `unavailable`; it is tried again then.
   */
  async write(): Promise<void> {
    if (this.#pending.calls.size === 0 && this.#groups.length === 0) return;
    this.send();
    await inTime(this.#sending);
  }

  /** Queues a transaction for all charges so far, so that it precedes those that are queued after this. */
  send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#pending.calls.size === 0 || this.#queued) return;
    this.#sending = this.#send();
    // Those who wait for it hear of its failure.
    this.#sending.catch(() => {});
  }

  /** Writes all charges so far, and tries no more if that fails. */
  async close(): Promise<void> {
    await this.write().finally(() => {
      clearTimeout(this.#timer);
      this.#pending.calls.clear();
    });
  }

  async #send(): Promise<void> {
    this.#queued = true;
    let group: Group | undefined;
    try {
      await committed(this.accounts, () => {
        group = this.#pending;
        this.#groups.push(group);
        this.#queued = false;
        this.#pending = this.#nextGroup();
        for (const accountId of [...group.calls.keys()]) this.#charge(accountId, group);
      });
    } catch (error) {
      if (group !== undefined) this.#takeBack(group);
      this.#timer ??= setTimeout(() => this.send(), RETRY_MS).unref();
      throw error;
    } finally {
      if (group === undefined) this.#queued = false;
      this.#groups = this.#groups.filter((each) => each !== group);
    }
  }

  #nextGroup(): Group {
    return new Group(`${this.#process}-${++this.#number}`);
  }

  /** Writes the charges of one account in the present transaction. */
  #charge(accountId: string, group: Group): void {
    const found = this.#find(accountId);
    if (found === undefined) return;
    // An earlier group that this state does not include has failed, even if that is not known yet.
    let calls = 0;
    for (const each of this.#laterThan(found.group)) {
      calls += each.calls.get(accountId) ?? 0;
      each.calls.delete(accountId);
    }
    group.calls.set(accountId, calls);
    this.accounts.putSync(accountId, { ...found, callsLeft: found.callsLeft - calls, group: group.id });
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

  /** Makes those charges of a failed group pending again that the database does not have. */
  #takeBack(group: Group): void {
    this.#pending.sinceMs = Math.min(group.sinceMs, this.#pending.sinceMs);
    this.#pending.count += group.count;
    for (const [accountId, calls] of group.calls) {
      const found = this.#find(accountId);
      const isMissing = found !== undefined && this.#laterThan(found.group).includes(group);
      if (isMissing) this.#pending.add(accountId, calls);
    }
  }

  /** Returns the groups that a state with this last group does not include. */
  #laterThan(last: string | undefined): Group[] {
    return this.#groups.slice(this.#groups.findIndex(({ id }) => id === last) + 1);
  }
}
