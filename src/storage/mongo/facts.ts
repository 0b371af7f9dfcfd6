import type { Collection, Db } from "mongodb";
import type { ModelIdentity } from "../../memory/embedder.js";
import type { Facts } from "../../memory/pin.js";
import { answer } from "./answer.js";

interface ModelRecord {
  readonly _id: "model";
  readonly model: ModelIdentity;
}

/** Facts of the whole database, by name. */
export class MongoFacts implements Facts {
  readonly #meta: Collection<ModelRecord>;

  constructor(db: Db) {
    this.#meta = db.collection("meta");
  }

  /** One write, so that even who comes second gets what a majority holds. */
  async pinModel(model: ModelIdentity): Promise<ModelIdentity> {
    const pinned = await answer(
      this.#meta.findOneAndUpdate(
        { _id: "model" },
        { $setOnInsert: { model } },
        { upsert: true, returnDocument: "after" },
      ),
    );
    return pinned?.model ?? model;
  }

  async pinnedModel(): Promise<ModelIdentity | undefined> {
    return (await answer(this.#meta.findOne({ _id: "model" })))?.model;
  }
}
