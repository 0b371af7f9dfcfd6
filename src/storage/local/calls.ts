import { setImmediate as nextIteration } from "node:timers/promises";
import type { Database } from "lmdb";
import type { CallRecord, Calls, CallsErasure, CallsPage } from "../../accounts/calls/calls.js";
import {
  type AccountHour,
  type Counts,
  DAY_MS,
  type DayUsage,
  dateOf,
  NOTHING,
  sum,
  USAGE_DAYS_MAX,
  type Usage,
  type UsageWrite,
} from "../../accounts/usage.js";
import { committed, durably, reading } from "./durably.js";

type Key = [accountId: string, id: string];
type StoredCall = Omit<CallRecord, "id" | "accountId">;
/** Id, or date, that sorts after every other. */
const AFTER_ALL = "~";
/** Records read or removed at a time, which takes about a millisecond. */
const SLICE = 250;

export class LocalCalls implements Calls {
  constructor(private readonly calls: Database<StoredCall, Key>) {}

  async add(records: readonly CallRecord[]): Promise<void> {
    await committed(this.calls, () => {
      for (const { id, accountId, ...call } of records) this.calls.putSync([accountId, id], call);
    });
  }

  async list({ accountId, before = AFTER_ALL, limit }: CallsPage): Promise<CallRecord[]> {
    const newestFirst = { start: [accountId, before] as Key, end: [accountId, ""] as Key, reverse: true };
    const range = { ...newestFirst, exclusiveStart: true, limit };
    const found = reading(() => [...this.calls.getRange(range)]);
    return found.map(({ key, value }) => ({ id: key[1], accountId, ...value }));
  }

  async erase({ accountId, namespace, untilMs }: CallsErasure): Promise<void> {
    for (let start = ""; ; await nextIteration()) {
      const rest = { start: [accountId, start] as Key, end: [accountId, AFTER_ALL] as Key };
      const range = { ...rest, exclusiveStart: true, limit: SLICE };
      const slice = reading(() => [...this.calls.getRange(range)]);
      const isErased = ({ value }: (typeof slice)[number]) =>
        value.atMs <= untilMs && (namespace === undefined || value.namespace === namespace);
      await this.#remove(slice.filter(isErased));
      if (slice.length < SLICE) return;
      start = slice.at(-1)?.key[1] as string;
    }
  }

  async prune({ accountId, beforeMs, max }: Parameters<Calls["prune"]>[0]): Promise<boolean> {
    const newestFirst = { start: [accountId, AFTER_ALL] as Key, end: [accountId, ""] as Key, reverse: true };
    const [beyond] = reading(() => [...this.calls.getKeys({ ...newestFirst, offset: max, limit: 1 })]);
    const old = reading(() => {
      const found = [];
      const oldestFirst = { start: [accountId, ""] as Key, end: [accountId, AFTER_ALL] as Key, limit: SLICE };
      for (const each of this.calls.getRange(oldestFirst)) {
        if (each.value.atMs >= beforeMs && (beyond === undefined || each.key[1] > beyond[1])) break;
        found.push(each);
      }
      return found;
    });
    await this.#remove(old);
    return old.length === SLICE;
  }

  async nextAccount(after: string): Promise<string | undefined> {
    return nextAccountIn(this.calls, after);
  }

  async #remove(records: readonly { key: Key }[]): Promise<void> {
    if (records.length === 0) return;
    await durably(this.calls, () => {
      for (const { key } of records) this.calls.removeSync(key);
    });
  }
}

/** Finds the next account that has records, by id; undefined after the last one. */
function nextAccountIn(records: Database<unknown, Key>, after: string): string | undefined {
  const [key] = reading(() => [...records.getKeys({ start: [after, AFTER_ALL], limit: 1 })]);
  return key?.[0];
}

interface StoredDay extends Omit<DayUsage, "date"> {
  /** Number of the last write of an hour, by its process and the hour. */
  readonly writes?: Readonly<Record<string, number>>;
}
type DayKey = [accountId: string, date: string];

export class LocalUsage implements Usage {
  constructor(private readonly days: Database<StoredDay, DayKey>) {}

  async add(hours: readonly AccountHour[], { by, number }: UsageWrite): Promise<void> {
    const before = dateOf(Date.now() - USAGE_DAYS_MAX * DAY_MS);
    await durably(this.days, () => {
      for (const { accountId, date, hour, ...counts } of hours) {
        this.#forget(accountId, before);
        const day: StoredDay = this.days.get([accountId, date]) ?? NOTHING;
        const write = `${by}-${hour}`;
        if ((day.writes?.[write] ?? -1) >= number) continue;
        const inHour = sum<Counts>(day.hours?.[hour] ?? NOTHING, counts);
        this.days.putSync([accountId, date], {
          ...sum(day, counts),
          hours: { ...day.hours, [hour]: inHour },
          writes: { ...day.writes, [write]: number },
        });
      }
    });
  }

  async read({ accountId, from }: Parameters<Usage["read"]>[0]): Promise<DayUsage[]> {
    return reading(() => {
      const found = this.days.getRange({ start: [accountId, from], end: [accountId, AFTER_ALL] });
      return [...found].map(({ key, value: { writes, ...day } }) => ({ date: key[1], ...day }));
    });
  }

  async remove(accountId: string): Promise<void> {
    await durably(this.days, () => this.#forget(accountId, AFTER_ALL));
  }

  async nextAccount(after: string): Promise<string | undefined> {
    return nextAccountIn(this.days, after);
  }

  #forget(accountId: string, before: string): void {
    const old = [...this.days.getKeys({ start: [accountId, ""], end: [accountId, before] })];
    for (const key of old) this.days.removeSync(key);
  }
}
