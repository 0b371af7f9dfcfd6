import type { Collection, Document, Filter, FindOptions } from "mongodb";
import type { Lost, Records, Where } from "../../memory/ports/records.js";
import { findOrInsert, withTimeout } from "./driver.js";
import { afterAll } from "./ids.js";

/** A record as a document. The time of its expiry is a Date, so that MongoDB removes the document by itself. */
type RecordDocument = Document & { readonly _id: string };

export class MongoRecords<R extends { readonly id: string }> implements Records<R> {
  /** @param expiry name of the document's Date; the record's field of milliseconds has it, and `Ms` */
  constructor(
    private readonly records: Collection<RecordDocument>,
    private readonly expiry?: string,
  ) {}

  async find(id: string): Promise<R | undefined> {
    const found = await withTimeout(this.records.findOne({ _id: id }));
    return found === null ? undefined : this.#fromDocument(found);
  }

  async findBy(field: string, value: string): Promise<R | undefined> {
    const found = await withTimeout(this.records.findOne({ [field]: value }));
    return found === null ? undefined : this.#fromDocument(found);
  }

  async findOrInsert({ id: _id, ...record }: R, nowMs?: number): Promise<R> {
    const { expiry = "" } = this;
    const { [`${expiry}Ms`]: expiresAtMs, ...fields } = record as Document;
    // MongoDB takes up to a minute to remove what has expired.
    if (nowMs !== undefined)
      await withTimeout(this.records.deleteOne({ _id, [expiry]: { $lte: new Date(nowMs) } }));
    const document = { _id, ...fields, ...(expiresAtMs && { [expiry]: new Date(expiresAtMs) }) };
    return this.#fromDocument(await withTimeout(findOrInsert(this.records, document)));
  }

  async update(where: Where<R> & Pick<R, "id">, set: Partial<R>): Promise<boolean> {
    const updating = this.records.updateOne(filterOf(where), { $set: set });
    return (await withTimeout(updating)).matchedCount === 1;
  }

  async remove(where: Where<R>): Promise<void> {
    const filter = filterOf(where);
    // The driver tries a removal of one again if the connection breaks.
    const isOne = where.id !== undefined;
    await withTimeout(isOne ? this.records.deleteOne(filter) : this.records.deleteMany(filter));
  }

  list({ limit, after = "", prefix }: Parameters<Records<R>["list"]>[0]): Promise<(R | Lost)[]> {
    const beginning = prefix === undefined ? {} : { $gte: prefix, $lt: afterAll(prefix) };
    return this.#list({ _id: { $gt: after, ...beginning } }, { sort: { _id: 1 }, limit });
  }

  greatest(field: string, limit: number): Promise<R[]> {
    return this.#list({}, { sort: { [field]: -1 }, limit });
  }

  async #list(filter: Filter<RecordDocument>, options: FindOptions): Promise<R[]> {
    const found = await withTimeout(this.records.find(filter, options).toArray());
    return found.map((each) => this.#fromDocument(each));
  }

  #fromDocument({ _id: id, ...document }: RecordDocument): R {
    const { expiry = "" } = this;
    const { [expiry]: expires, ...fields } = document;
    return { id, ...fields, ...(expires && { [`${expiry}Ms`]: expires.getTime() }) } as R;
  }
}

/** Makes a filter for a record with these fields; undefined stands for none. */
function filterOf({ id, ...where }: Where<{ id: string }>): Filter<RecordDocument> {
  const fields = Object.entries(where).map(([name, value]) => [name, value ?? { $exists: false }]);
  return { ...(id !== undefined && { _id: id }), ...Object.fromEntries(fields) };
}
