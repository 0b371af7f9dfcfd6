import type { Collection, Filter } from "mongodb";
import type { CallRecord, Calls, CallsErasure, CallsPage } from "../../accounts/calls/calls.js";
import {
  type AccountHour,
  DAY_MS,
  type DayUsage,
  USAGE_DAYS_MAX,
  type Usage,
  type UsageWrite,
} from "../../accounts/usage.js";
import { takenIn, withTimeout } from "./driver.js";
import { idsFrom } from "./ids.js";

/** Id of the form `<account>:<id of the record>`, so the collection needs no other index. */
type CallDocument = Omit<CallRecord, "id" | "accountId"> & { readonly _id: string };

const REMOVE_MANY = 500;

export class MongoCalls implements Calls {
  constructor(private readonly calls: Collection<CallDocument>) {}

  async add(records: readonly CallRecord[]): Promise<void> {
    const calls = records.map(({ id, accountId, ...call }) => ({ _id: `${accountId}:${id}`, ...call }));
    const adding = this.calls.insertMany(calls, { ordered: false }).catch((error) => {
      // A write that is repeated finds its records there.
      if (takenIn(error).length === 0) throw error;
    });
    await withTimeout<unknown>(adding);
  }

  async list({ accountId, before, limit }: CallsPage): Promise<CallRecord[]> {
    const ids = idsFrom(accountId);
    const _id = before === undefined ? ids : { ...ids, $lt: `${accountId}:${before}` };
    const found = await withTimeout(this.calls.find({ _id }, { sort: { _id: -1 }, limit }).toArray());
    return found.map(({ _id, ...call }) => ({ id: _id.slice(accountId.length + 1), accountId, ...call }));
  }

  async erase({ accountId, namespace, untilMs }: CallsErasure): Promise<void> {
    const filter = { _id: idsFrom(accountId), atMs: { $lte: untilMs } };
    await withTimeout(this.calls.deleteMany(namespace === undefined ? filter : { ...filter, namespace }));
  }

  async prune({ accountId, beforeMs, max }: Parameters<Calls["prune"]>[0]): Promise<boolean> {
    const _id = idsFrom(accountId);
    const newestFirst = { sort: { _id: -1 }, skip: max, projection: { _id: 1 } } as const;
    const beyond = await withTimeout(this.calls.findOne({ _id }, newestFirst));
    const isOld = ({ _id, atMs }: Pick<CallDocument, "_id" | "atMs">) =>
      atMs < beforeMs || (beyond !== null && _id <= beyond._id);
    const oldestFirst = { sort: { _id: 1 }, projection: { atMs: 1 } } as const;
    const oldest = await withTimeout(this.calls.findOne({ _id }, oldestFirst));
    if (oldest === null || !isOld(oldest)) return false;
    const some = await withTimeout(
      this.calls.find({ _id }, { ...oldestFirst, limit: REMOVE_MANY }).toArray(),
    );
    const firstRecent = some.findIndex((each) => !isOld(each));
    const old = firstRecent === -1 ? some : some.slice(0, firstRecent);
    await withTimeout(this.calls.deleteMany({ _id: { $in: old.map((each) => each._id) } }));
    return firstRecent === -1 && some.length === REMOVE_MANY;
  }

  nextAccount(after: string): Promise<string | undefined> {
    return nextAccountIn(this.calls, after);
  }
}

/** Finds the next account that has documents, by id; undefined after the last one. */
async function nextAccountIn<T extends { readonly _id: string }>(documents: Collection<T>, after: string) {
  const next = { sort: { _id: 1 }, projection: { _id: 1 } } as const;
  const newer = { _id: { $gte: `${after};` } } as Filter<T>;
  const found = await withTimeout(documents.findOne(newer, next));
  return found?._id.slice(0, found._id.indexOf(":"));
}

interface DayRecord extends Omit<DayUsage, "date"> {
  /** Id of the form `<account>:<date>`. */
  readonly _id: string;
  /** Expiry as a Date, so that MongoDB removes the document by itself. */
  readonly expiresAt: Date;
  /** Number of the last write of an hour, by its process and the hour. */
  readonly writes?: Readonly<Record<string, number>>;
}

export class MongoUsage implements Usage {
  constructor(private readonly days: Collection<DayRecord>) {}

  async add(hours: readonly AccountHour[], { by, number }: UsageWrite): Promise<void> {
    const writes = hours.flatMap(({ accountId, date, hour, ...counts }) => {
      const _id = `${accountId}:${date}`;
      const day = { expiresAt: new Date(Date.parse(date) + USAGE_DAYS_MAX * DAY_MS) };
      const inHour = Object.entries(counts).map(([name, count]) => [`hours.${hour}.${name}`, count]);
      const write = `writes.${by}-${hour}`;
      const isNew = { _id, [write]: { $not: { $gte: number } } };
      const counted = { $inc: { ...counts, ...Object.fromEntries(inHour) }, $set: { [write]: number } };
      // The document comes first: an insert that another process is quicker with would seem to be repeated.
      return [
        { updateOne: { filter: { _id }, update: { $setOnInsert: day }, upsert: true } },
        { updateOne: { filter: isNew, update: counted } },
      ];
    });
    if (writes.length > 0) await withTimeout(this.days.bulkWrite(writes));
  }

  async read({ accountId, from }: Parameters<Usage["read"]>[0]): Promise<DayUsage[]> {
    const _id = idsFrom(accountId, `${accountId}:${from}`);
    const found = await withTimeout(this.days.find({ _id }, { sort: { _id: 1 } }).toArray());
    return found.map(({ _id, expiresAt, writes, ...counts }) => ({
      date: _id.slice(accountId.length + 1),
      ...counts,
    }));
  }

  async remove(accountId: string): Promise<void> {
    await withTimeout(this.days.deleteMany({ _id: idsFrom(accountId) }));
  }

  nextAccount(after: string): Promise<string | undefined> {
    return nextAccountIn(this.days, after);
  }
}
