import type { Collection, Db } from "mongodb";
import { type AccountHour, DAY_MS, type DayUsage, USAGE_DAYS_MAX, type Usage } from "../../accounts/usage.js";
import { idsFrom } from "./log/number.js";
import { withTimeout } from "./with-timeout.js";

interface DayRecord extends Omit<DayUsage, "date"> {
  /** Id of the form `<account>:<date>`. */
  readonly _id: string;
  /** Expiry as a Date, so that MongoDB removes the document by itself. */
  readonly expiresAt: Date;
}

export class MongoUsage implements Usage {
  readonly #days: Collection<DayRecord>;

  constructor(db: Db) {
    this.#days = db.collection("usage");
  }

  async add(hours: readonly AccountHour[]): Promise<void> {
    const writes = hours.map(({ accountId, date, hour, ...counts }) => {
      const expiresAt = new Date(Date.parse(date) + USAGE_DAYS_MAX * DAY_MS);
      const inHour = Object.entries(counts).map(([name, count]) => [`hours.${hour}.${name}`, count]);
      const update = { $inc: { ...counts, ...Object.fromEntries(inHour) }, $setOnInsert: { expiresAt } };
      return { updateOne: { filter: { _id: `${accountId}:${date}` }, update, upsert: true } };
    });
    if (writes.length > 0) await withTimeout(this.#days.bulkWrite(writes, { ordered: false }));
  }

  async read({ accountId, from }: Parameters<Usage["read"]>[0]): Promise<DayUsage[]> {
    const _id = idsFrom(accountId, `${accountId}:${from}`);
    const found = await withTimeout(this.#days.find({ _id }, { sort: { _id: 1 } }).toArray());
    return found.map(({ _id, expiresAt, ...counts }) => ({
      date: _id.slice(accountId.length + 1),
      ...counts,
    }));
  }

  async remove(accountId: string): Promise<void> {
    await withTimeout(this.#days.deleteMany({ _id: idsFrom(accountId) }));
  }
}
