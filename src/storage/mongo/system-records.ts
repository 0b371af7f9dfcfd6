import type { Collection, Db } from "mongodb";
import type { ModelIdentity } from "../../memory/ports/embedder.js";
import type { Facts, Pinned, Plan, Versioned } from "../../memory/ports/plan.js";
import { fromModelRecord, type ModelRecord, toModelRecord } from "../model-record.js";
import { findOrInsert } from "./find-or-insert.js";
import { answer } from "./with-timeout.js";

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
    if (from === 0) return to === undefined ? (await this.plan()) === undefined : this.#beginPlan(to);
    const standing = { _id: "plan", version: from, plan: { $exists: true } };
    // What is left of a plan is its version, so that none comes again.
    const changed = to === undefined ? ({ $unset: { plan: "" } } as const) : { $set: { plan: to } };
    const replaced = this.#meta.updateOne(standing, { ...changed, $inc: { version: 1 } });
    return (await answer(replaced)).matchedCount === 1;
  }

  async #beginPlan(plan: Plan): Promise<boolean> {
    const ended = { _id: "plan", plan: { $exists: false } };
    const begun = await answer(this.#meta.updateOne(ended, { $set: { plan }, $inc: { version: 1 } }));
    if (begun.matchedCount === 1) return true;
    const mark = await answer(findOrInsert(this.#meta, { _id: "plan", plan, version: 1 }));
    return mark.plan?.edition === plan.edition && mark.version === 1;
  }
}
