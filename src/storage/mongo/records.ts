import type { Collection, Document, Filter } from "mongodb";
import type { Pinned, SystemRecords } from "../../memory/ports/model-version.js";
import type { Recent, Scope } from "../../memory/ports/names.js";
import type { Records, Where } from "../records.js";
import { findOrInsert, withTimeout } from "./driver.js";
import { nameId, scopeIn } from "./ids.js";

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

  async list({ limit, after = "" }: Parameters<Records<R>["list"]>[0]): ReturnType<Records<R>["list"]> {
    const behind = this.records.find({ _id: { $gt: after } }, { sort: { _id: 1 }, limit });
    return (await withTimeout(behind.toArray())).map((each) => this.#fromDocument(each));
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

interface RecentRecord {
  /** Id as `nameId` makes it. */
  readonly _id: string;
  readonly usedAtMs: number;
}

export class MongoRecent implements Recent {
  constructor(private readonly recent: Collection<RecentRecord>) {}

  async touch(scope: Scope, atMs: number): Promise<void> {
    const used = { $set: { usedAtMs: atMs } };
    await withTimeout(this.recent.updateOne({ _id: nameId(scope) }, used, { upsert: true }));
  }

  async list(limit: number): Promise<Scope[]> {
    const records = await withTimeout(this.recent.find({}, { sort: { usedAtMs: -1 }, limit }).toArray());
    return records.map(({ _id }) => scopeIn(_id));
  }

  async forget(scope: Scope): Promise<void> {
    await withTimeout(this.recent.deleteOne({ _id: nameId(scope) }));
  }
}

interface MetaRecord {
  readonly _id: string;
  /** Model version of the last one of the models. */
  readonly pinned?: string;
  readonly models?: readonly Pinned[];
}

export class MongoSystemRecords implements SystemRecords {
  constructor(private readonly meta: Collection<MetaRecord>) {}

  async models(): Promise<readonly Pinned[]> {
    return (await withTimeout(this.meta.findOne({ _id: "models" })))?.models ?? [];
  }

  async pin({ after, to }: Parameters<SystemRecords["pin"]>[0]): Promise<boolean> {
    if (after === undefined) {
      const first = { _id: "models", pinned: to.modelVersion, models: [to] };
      return (await withTimeout(findOrInsert(this.meta, first))).models?.at(-1)?.model.id === to.model.id;
    }
    const models = [...(await this.models()), to];
    // No model version is pinned twice, so these are the models that were read.
    const pinning = this.meta.updateOne(
      { _id: "models", pinned: after },
      { $set: { pinned: to.modelVersion, models } },
    );
    return (await withTimeout(pinning)).matchedCount === 1;
  }
}
