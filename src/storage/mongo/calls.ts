import type { Collection, Filter } from "mongodb";
import type { CallRecord, Calls, CallsErasure, CallsPlace, CallsQuery } from "../../accounts/calls/calls.js";
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

  async list(query: CallsQuery): Promise<CallRecord[]> {
    const { accountId, last = "", limit, errorsOnly, method, keyId, code: wanted, namespace } = query;
    const _id = { ...idsBefore(query), $gte: `${accountId}:${last}` };
    const code = errorsOnly ? { $ne: "ok", $eq: wanted } : wanted;
    const filter = { _id, code, method, keyId, namespace } as Filter<CallDocument>;
    // What is undefined is no condition.
    const options = { sort: { _id: -1 }, limit, ignoreUndefined: true } as const;
    const found = await withTimeout(this.calls.find(filter, options).toArray());
    return found.map(({ _id, ...call }) => ({ id: _id.slice(accountId.length + 1), accountId, ...call }));
  }

  async idAt(place: CallsPlace): Promise<string | undefined> {
    const newestFirst = { sort: { _id: -1 }, skip: place.offset, projection: { _id: 1 } } as const;
    const found = await withTimeout(this.calls.findOne({ _id: idsBefore(place) }, newestFirst));
    return found?._id.slice(place.accountId.length + 1);
  }

  async erase({ accountId, namespace, untilMs }: CallsErasure): Promise<void> {
    const filter = { _id: idsFrom(accountId), atMs: { $lte: untilMs } };
    await withTimeout(this.calls.deleteMany(namespace === undefined ? filter : { ...filter, namespace }));
  }

  async prune({ accountId, beforeMs, max }: Parameters<Calls["prune"]>[0]): Promise<boolean> {
    const _id = idsFrom(accountId);
    const beyond = await this.idAt({ accountId, offset: max });
    const isOld = ({ _id, atMs }: Pick<CallDocument, "_id" | "atMs">) =>
      atMs < beforeMs || (beyond !== undefined && _id <= `${accountId}:${beyond}`);
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
  const behind = { _id: { $gte: `${after};` } } as Filter<T>;
  const found = await withTimeout(documents.findOne(behind, next));
  return found?._id.slice(0, found._id.indexOf(":"));
}

/** Range of an account's ids, below that of a record if one is given. */
function idsBefore({ accountId, before }: Pick<CallsPlace, "accountId" | "before">) {
  const ids = idsFrom(accountId);
  return before === undefined ? ids : { ...ids, $lt: `${accountId}:${before}` };
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
