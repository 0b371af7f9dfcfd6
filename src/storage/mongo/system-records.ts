import type { Collection, Db } from "mongodb";
import type { ModelIdentity } from "../../memory/ports/embedder.js";
import type { Pinned, Plan, SystemRecords, Versioned } from "../../memory/ports/plan.js";
import {
  fromModelRecord,
  fromPlanRecord,
  type ModelRecord,
  type PlanRecord,
  toModelRecord,
  toPlanRecord,
} from "../model-record.js";
import { findOrInsert } from "./find-or-insert.js";
import { withTimeout } from "./with-timeout.js";

interface MetaRecord {
  readonly _id: string;
  readonly model?: ModelRecord;
  readonly plan?: PlanRecord;
  readonly version?: number;
}

/** Records about the whole database, in MongoDB. */
export class MongoSystemRecords implements SystemRecords {
  readonly #meta: Collection<MetaRecord>;

  constructor(db: Db) {
    this.#meta = db.collection("meta");
  }

  async pinModel(model: ModelIdentity): Promise<Pinned> {
    const first = toModelRecord({ model, generation: "" });
    const record = await withTimeout(findOrInsert(this.#meta, { _id: "model", model: first }));
    return fromModelRecord(record.model) as Pinned;
  }

  async pinned(): Promise<Pinned | undefined> {
    return fromModelRecord((await withTimeout(this.#meta.findOne({ _id: "model" })))?.model);
  }

  async repin({ from, to }: Parameters<SystemRecords["repin"]>[0]): Promise<void> {
    // The first model generation has no field in older databases, so an empty one matches a missing
    // field.
    const edition = from === "" ? { $in: ["", null] } : from;
    const filter = { _id: "model", "model.edition": edition };
    await withTimeout(this.#meta.updateOne(filter, { $set: { model: toModelRecord(to) } }));
  }

  async plan(): Promise<Versioned | undefined> {
    const record = await withTimeout(this.#meta.findOne({ _id: "plan" }));
    if (!record?.plan || record.version === undefined) return undefined;
    return { plan: fromPlanRecord(record.plan), version: record.version };
  }

  async replacePlan({ from, to }: Parameters<SystemRecords["replacePlan"]>[0]): Promise<boolean> {
    if (from === 0) return to === undefined ? (await this.plan()) === undefined : this.#beginPlan(to);
    const standing = { _id: "plan", version: from, plan: { $exists: true } };
    // The version of an ended plan is kept, so that no plan gets the same one again.
    const changed =
      to === undefined ? ({ $unset: { plan: "" } } as const) : { $set: { plan: toPlanRecord(to) } };
    const replaced = this.#meta.updateOne(standing, { ...changed, $inc: { version: 1 } });
    return (await withTimeout(replaced)).matchedCount === 1;
  }

  async #beginPlan(begun: Plan): Promise<boolean> {
    const plan = toPlanRecord(begun);
    const ended = { _id: "plan", plan: { $exists: false } };
    const replaced = await withTimeout(this.#meta.updateOne(ended, { $set: { plan }, $inc: { version: 1 } }));
    if (replaced.matchedCount === 1) return true;
    const mark = await withTimeout(findOrInsert(this.#meta, { _id: "plan", plan, version: 1 }));
    return mark.plan?.edition === plan.edition && mark.version === 1;
  }
}
