import type { Collection, Db } from "mongodb";
import type { Pinned, SystemRecords } from "../../memory/ports/system-records.js";
import { findOrInsert } from "./find-or-insert.js";
import { withTimeout } from "./with-timeout.js";

interface MetaRecord {
  readonly _id: string;
  /** Model version of the last one of the models. */
  readonly pinned?: string;
  readonly models?: readonly Pinned[];
}

export class MongoSystemRecords implements SystemRecords {
  readonly #meta: Collection<MetaRecord>;

  constructor(db: Db) {
    this.#meta = db.collection("meta");
  }

  async models(): Promise<readonly Pinned[]> {
    return (await withTimeout(this.#meta.findOne({ _id: "models" })))?.models ?? [];
  }

  async pin({ after, to }: Parameters<SystemRecords["pin"]>[0]): Promise<boolean> {
    if (after === undefined) {
      const first = { _id: "models", pinned: to.modelVersion, models: [to] };
      return (await withTimeout(findOrInsert(this.#meta, first))).models?.at(-1)?.model.id === to.model.id;
    }
    const models = [...(await this.models()), to];
    // No model version is pinned twice, so these are the models that were read.
    const pinning = this.#meta.updateOne(
      { _id: "models", pinned: after },
      { $set: { pinned: to.modelVersion, models } },
    );
    return (await withTimeout(pinning)).matchedCount === 1;
  }
}
