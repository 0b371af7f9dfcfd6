import type { Collection, Db } from "mongodb";
import type { ModelIdentity } from "../../memory/embedder.js";
import type { Facts } from "../../memory/pin.js";
import { answer } from "./answer.js";
import { findOrInsert } from "./find-or-insert.js";

interface ModelRecord {
  readonly _id: string;
  readonly model: ModelIdentity;
}

/** Facts of the whole database, by name. */
export class MongoFacts implements Facts {
  readonly #meta: Collection<ModelRecord>;

  constructor(db: Db) {
    this.#meta = db.collection("meta");
  }

  async pinModel(model: ModelIdentity): Promise<ModelIdentity> {
    return (await answer(findOrInsert(this.#meta, { _id: "model", model }))).model;
  }

  async pinnedModel(): Promise<ModelIdentity | undefined> {
    return (await answer(this.#meta.findOne({ _id: "model" })))?.model;
  }
}
