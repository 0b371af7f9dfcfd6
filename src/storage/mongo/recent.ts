import type { Collection, Db } from "mongodb";
import type { Scope } from "../../memory/ports/log.js";
import type { Recent } from "../../memory/ports/recent.js";
import { withTimeout } from "./with-timeout.js";

interface RecentRecord {
  /** Id of the form `<account>:<namespace>`; account ids have no colon. */
  readonly _id: string;
  readonly usedAt: Date;
}

/** Times at which namespaces were last used, in MongoDB. */
export class MongoRecent implements Recent {
  readonly #recent: Collection<RecentRecord>;

  constructor(db: Db) {
    this.#recent = db.collection("recent");
  }

  /** Creates the indexes; must be called before the first use. */
  async createIndexes(): Promise<void> {
    await this.#recent.createIndex({ usedAt: -1 });
  }

  async touch({ accountId, namespace }: Scope, atMs: number): Promise<void> {
    const _id = `${accountId}:${namespace}`;
    await withTimeout(
      this.#recent.updateOne({ _id }, { $set: { usedAt: new Date(atMs) } }, { upsert: true }),
    );
  }

  async list(limit: number): Promise<Scope[]> {
    const records = await withTimeout(this.#recent.find({}, { sort: { usedAt: -1 }, limit }).toArray());
    return records.map(({ _id }) => {
      const colon = _id.indexOf(":");
      return { accountId: _id.slice(0, colon), namespace: _id.slice(colon + 1) };
    });
  }

  async forget({ accountId, namespace }: Scope): Promise<void> {
    await withTimeout(this.#recent.deleteOne({ _id: `${accountId}:${namespace}` }));
  }
}
