import type { Collection, Db } from "mongodb";
import type { Scope } from "../../memory/ports/names.js";
import type { Recent } from "../../memory/ports/recent.js";
import { nameId, scopeIn } from "./log/number.js";
import { withTimeout } from "./with-timeout.js";

interface RecentRecord {
  /** Id as `nameId` makes it. */
  readonly _id: string;
  readonly usedAtMs: number;
}

export class MongoRecent implements Recent {
  readonly #recent: Collection<RecentRecord>;

  constructor(db: Db) {
    this.#recent = db.collection("recent");
  }

  async touch(scope: Scope, atMs: number): Promise<void> {
    const used = { $set: { usedAtMs: atMs } };
    await withTimeout(this.#recent.updateOne({ _id: nameId(scope) }, used, { upsert: true }));
  }

  async list(limit: number): Promise<Scope[]> {
    const records = await withTimeout(this.#recent.find({}, { sort: { usedAtMs: -1 }, limit }).toArray());
    return records.map(({ _id }) => scopeIn(_id));
  }

  async forget(scope: Scope): Promise<void> {
    await withTimeout(this.#recent.deleteOne({ _id: nameId(scope) }));
  }
}
