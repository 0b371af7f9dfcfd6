import { setImmediate as nextIteration } from "node:timers/promises";
import { typeidUnboxed } from "typeid-js";
import { type Background, every, inBackground } from "../../concurrency/every.js";
import type { Accounts } from "../account.js";
import { LOOK_MS, lookingAtAccounts } from "../late-records.js";
import { type Counts, countsOf, DAY_MS, sum } from "../usage.js";
import type { CallRecord, Calls, CallsErasure, CallsPage } from "./calls.js";

/** Time between two writes: what a process that is killed loses at most, beside a write that is under way. */
export const WRITE_MS = 500;
/** Bytes of the records that wait to be written. Beyond it, as in a database outage, records are lost. */
export const WAITING_BYTES_MAX = 4_194_304;
/** Approximate size of a record in memory, without its namespace and message. */
const RECORD_BYTES = 512;
const WRITE_MANY = 200;
/** Age at which a record that could not be written is lost: an erasure waits longer before it looks again. */
export const LATE_MS = 30_000;
/** Part of an account's limit by which its records may exceed it, about, before the oldest are removed. */
const EXCESS = 0.1;

export interface CallRecorderOptions {
  readonly accounts: Pick<Accounts, "isClosed">;
  /** Finds the log of a namespace; undefined if that does not exist. */
  readonly names: { find(scope: { accountId: string; namespace: string }): Promise<string | undefined> };
  /** Days for which records are kept, and their number for each account; 0 keeps none. */
  readonly days: number;
  readonly max: number;
  onLost(records: number): void;
  onTrouble(error: unknown): void;
}

/**
 * Records calls in batches that no call waits for. Reading writes first what this process has, so a caller
 * finds its own calls.
 */
export class CallRecorder implements Pick<Calls, "list" | "erase"> {
  #waiting: CallRecord[] = [];
  #bytes = 0;
  readonly #used = new WeakMap<object, Counts>();
  readonly #writing: Background;
  readonly #endPruning: () => Promise<void>;

  constructor(
    private readonly calls: Calls,
    private readonly options: CallRecorderOptions,
  ) {
    const { onTrouble } = options;
    this.#writing = inBackground(() => this.#write(), { everyMs: WRITE_MS, onTrouble });
    this.#endPruning = every(lookingAtAccounts(calls, this.#prune), { everyMs: LOOK_MS, onTrouble });
  }

  /** Limits of the record, and the time of the oldest call that may be in it. */
  get limits(): { readonly max: number; readonly sinceMs: number } {
    return { max: this.options.max, sinceMs: Date.now() - this.options.days * DAY_MS };
  }

  /** Counts what a call used; its record, which names the same caller, will have it. */
  count(caller: object, { call, tokens }: { call: "store" | "recall"; tokens: number }): void {
    const used = this.#used.get(caller);
    const counts = countsOf(call, tokens);
    this.#used.set(caller, used === undefined ? counts : sum(used, counts));
  }

  note(caller: object, call: Omit<CallRecord, "id" | "used">): void {
    if (this.options.max === 0) return;
    const bytes = bytesOf(call);
    if (this.#bytes + bytes > WAITING_BYTES_MAX) {
      this.options.onLost(1);
      return;
    }
    const used = this.#used.get(caller);
    this.#waiting.push({ id: typeidUnboxed("call"), ...(used && { used }), ...call });
    this.#bytes += bytes;
  }

  async list(page: CallsPage): Promise<CallRecord[]> {
    await this.#writing.now();
    return this.calls.list(page);
  }

  /** Erases records. Calls that still run, and other processes, may add some of the same kind later. */
  async erase(erasure: CallsErasure): Promise<void> {
    await this.#writing.now();
    await this.calls.erase(erasure);
  }

  async close(): Promise<void> {
    await this.#endPruning();
    await this.#writing.close();
  }

  async #write(): Promise<void> {
    for (let left = this.#waiting.length; left > 0; left -= WRITE_MANY) {
      const batch = this.#waiting.slice(0, Math.min(left, WRITE_MANY));
      const inTime = batch.filter(({ atMs, ms }) => Date.now() - atMs - ms < LATE_MS);
      if (inTime.length > 0) await this.calls.add(await Promise.all(inTime.map(this.#named)));
      if (inTime.length < batch.length) this.options.onLost(batch.length - inTime.length);
      this.#waiting = this.#waiting.slice(batch.length);
      for (const record of batch) this.#bytes -= bytesOf(record);
      // Accounts that call much cannot wait for their turn. The chance needs no count of what was written.
      for (const { accountId } of inTime) {
        if (Math.random() * EXCESS * this.options.max < 1) await this.#pruneOf(accountId);
      }
    }
  }

  /**
   * Leaves the namespace out of the record of a long call, such as an export, if it was deleted: the erasure of the
   * records of its calls may have ended before.
   */
  readonly #named = async (record: CallRecord): Promise<CallRecord> => {
    const { namespace, ...call } = record;
    if (namespace === undefined || call.ms < LATE_MS) return record;
    const logId = await this.options.names.find({ accountId: call.accountId, namespace });
    return logId === undefined ? call : record;
  };

  /** Removes an account's old records, and all of a closed one: another process added them late. */
  readonly #prune = async (accountId: string): Promise<void> => {
    if (!(await this.options.accounts.isClosed(accountId))) await this.#pruneOf(accountId);
    else await this.calls.erase({ accountId, untilMs: Number.MAX_SAFE_INTEGER });
  };

  async #pruneOf(accountId: string): Promise<void> {
    const { max, sinceMs: beforeMs } = this.limits;
    while (await this.calls.prune({ accountId, beforeMs, max })) await nextIteration();
  }
}

/** Approximate bytes of a record in memory: a character takes up to two. */
function bytesOf({ namespace = "", message = "" }: Pick<CallRecord, "namespace" | "message">): number {
  return RECORD_BYTES + 2 * (namespace.length + message.length);
}
