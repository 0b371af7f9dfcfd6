import { setImmediate as nextIteration } from "node:timers/promises";
import { typeidUnboxed } from "typeid-js";
import { every, inBackground } from "../../concurrency/every.js";
import type { Accounts } from "../account.js";
import { type Counts, countsOf, DAY_MS, NOTHING, sum } from "../usage.js";
import { VISIT_MS, visitingAccounts } from "../visiting-accounts.js";
import type { CallRecord, Calls, CallsErasure, CallsPage } from "./calls.js";

/** Time between two writes: what a process that is killed loses at most, beside a write that is under way. */
export const WRITE_MS = 500;
/** Bytes of the records that wait to be written. Beyond it, as in a database outage, records are lost. */
export const WAITING_BYTES_MAX = 4_194_304;
/** Approximate size of a record in memory, without its namespace and message. */
const RECORD_BYTES = 512;
const WRITE_MANY = 200;
/** Age at which a record that could not be written is lost: an erasure waits longer before it looks again. */
export const RECORD_AGE_MS_MAX = 30_000;
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

export type CallRecorder = ReturnType<typeof openCallRecorder>;

/**
 * Records calls in batches that no call waits for. Reading writes first what this process has, so a caller
 * finds its own calls.
 */
export function openCallRecorder(
  calls: Calls,
  { accounts, names, days, max, onLost, onTrouble }: CallRecorderOptions,
) {
  let waiting: CallRecord[] = [];
  let bytesWaiting = 0;
  const usedBy = new WeakMap<object, Counts>();

  const write = async () => {
    for (let left = waiting.length; left > 0; left -= WRITE_MANY) {
      const batch = waiting.slice(0, Math.min(left, WRITE_MANY));
      const inTime = batch.filter(({ atMs, ms }) => Date.now() - atMs - ms < RECORD_AGE_MS_MAX);
      if (inTime.length > 0) await calls.add(await Promise.all(inTime.map(withoutDeletedNamespace)));
      if (inTime.length < batch.length) onLost(batch.length - inTime.length);
      waiting = waiting.slice(batch.length);
      for (const record of batch) bytesWaiting -= bytesOf(record);
      // Accounts that call much cannot wait for their turn. The chance needs no count of what was written.
      for (const { accountId } of inTime) {
        if (Math.random() * EXCESS * max < 1) await removeOld(accountId);
      }
    }
  };

  /**
   * Leaves the namespace out of the record of a long call, such as an export, if it was deleted: the erasure of the
   * records of its calls may have ended before.
   */
  const withoutDeletedNamespace = async (record: CallRecord): Promise<CallRecord> => {
    const { namespace, ...call } = record;
    if (namespace === undefined || call.ms < RECORD_AGE_MS_MAX) return record;
    const logId = await names.find({ accountId: call.accountId, namespace });
    return logId === undefined ? call : record;
  };

  /** Removes an account's old records, and all of a closed one: another process added them late. */
  const visit = async (accountId: string) => {
    if (!(await accounts.isClosed(accountId))) await removeOld(accountId);
    else await calls.erase({ accountId, untilMs: Number.MAX_SAFE_INTEGER });
  };

  const removeOld = async (accountId: string) => {
    while (await calls.prune({ accountId, beforeMs: sinceMs(), max })) await nextIteration();
  };

  const sinceMs = () => Date.now() - days * DAY_MS;
  const writing = inBackground(write, { everyMs: WRITE_MS, onTrouble });
  const endVisits = every(visitingAccounts(calls, visit), { everyMs: VISIT_MS, onTrouble });
  return {
    /** Maximum number of an account's records. */
    max,

    /** Time of the oldest call that may be in the record. */
    sinceMs,

    /** Counts what a call used; its record, which names the same caller, will have it. */
    count: (caller: object, { call, tokens }: { call: "store" | "recall"; tokens: number }): void => {
      usedBy.set(caller, sum(usedBy.get(caller) ?? NOTHING, countsOf(call, tokens)));
    },

    note: (caller: object, call: Omit<CallRecord, "id" | "used">): void => {
      if (max === 0) return;
      const bytes = bytesOf(call);
      if (bytesWaiting + bytes > WAITING_BYTES_MAX) {
        onLost(1);
        return;
      }
      const used = usedBy.get(caller);
      waiting.push({ id: typeidUnboxed("call"), ...(used && { used }), ...call });
      bytesWaiting += bytes;
    },

    list: async (page: CallsPage): Promise<CallRecord[]> => {
      await writing.now();
      return calls.list(page);
    },

    /** Erases records. Calls that still run, and other processes, may add some of the same kind later. */
    erase: async (erasure: CallsErasure): Promise<void> => {
      await writing.now();
      await calls.erase(erasure);
    },

    close: async (): Promise<void> => {
      await endVisits();
      await writing.close();
    },
  };
}

/** Approximate bytes of a record in memory: a character takes up to two. */
function bytesOf({ namespace = "", message = "" }: Pick<CallRecord, "namespace" | "message">): number {
  return RECORD_BYTES + 2 * (namespace.length + message.length);
}
