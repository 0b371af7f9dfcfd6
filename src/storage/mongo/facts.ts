import type { Collection, Db } from "mongodb";
import type { ModelIdentity } from "../../memory/embedder.js";
import type { Facts, Pinned, Plan, Versioned } from "../../memory/plan.js";
import { fromModelRecord, type ModelRecord, toModelRecord } from "../model-record.js";
import { answer } from "./answer.js";
import { findOrInsert } from "./find-or-insert.js";

interface MetaRecord {
  readonly _id: string;
  readonly model?: ModelRecord;
  readonly plan?: Plan;
  readonly version?: number;
}

/** Facts of the whole database, by name. */
export class MongoFacts implements Facts {
  readonly #meta: Collection<MetaRecord>;

  constructor(db: Db) {
    this.#meta = db.collection("meta");
  }

  async pinModel(model: ModelIdentity): Promise<Pinned> {
    const first = toModelRecord({ model, edition: "" });
    const record = await answer(findOrInsert(this.#meta, { _id: "model", model: first }));
    return fromModelRecord(record.model) as Pinned;
  }

  async pinned(): Promise<Pinned | undefined> {
    return fromModelRecord((await answer(this.#meta.findOne({ _id: "model" })))?.model);
  }

  async repin({ from, to }: Parameters<Facts["repin"]>[0]): Promise<void> {
    // The first edition is not written down everywhere: an empty one is not either.
    const edition = from === "" ? { $in: ["", null] } : from;
    const filter = { _id: "model", "model.edition": edition };
    await answer(this.#meta.updateOne(filter, { $set: { model: toModelRecord(to) } }));
  }

  async plan(): Promise<Versioned | undefined> {
    const record = await answer(this.#meta.findOne({ _id: "plan" }));
    if (!record?.plan || record.version === undefined) return undefined;
    return { plan: record.plan, version: record.version };
  }

  async replacePlan({ from, to }: Parameters<Facts["replacePlan"]>[0]): Promise<boolean> {
    const standing = { _id: "plan", version: from };
    if (to === undefined) return (await answer(this.#meta.deleteOne(standing))).deletedCount === 1;
    const changed = { plan: to, version: from + 1 };
    if (from > 0) return (await answer(this.#meta.updateOne(standing, { $set: changed }))).matchedCount === 1;
    const mark = await answer(findOrInsert(this.#meta, { _id: "plan", ...changed }));
    return mark.plan?.edition === to.edition && mark.version === 1;
  }
}
