import type { Database } from "lmdb";
import type { ModelIdentity } from "../../memory/embedder.js";
import type { Facts } from "../../memory/pin.js";
import { durably, reading } from "./durably.js";

/** Facts of the whole database, by name. */
export type Meta = Database<unknown, string>;

export class LocalFacts implements Facts {
  readonly #meta: Meta;

  constructor(meta: Meta) {
    this.#meta = meta;
  }

  async pinModel(model: ModelIdentity): Promise<ModelIdentity> {
    return durably(this.#meta, () => {
      const pinned = this.#meta.get("model") as ModelIdentity | undefined;
      if (pinned === undefined) this.#meta.putSync("model", model);
      return pinned ?? model;
    });
  }

  async pinnedModel(): Promise<ModelIdentity | undefined> {
    return reading(() => this.#meta.get("model") as ModelIdentity | undefined);
  }
}
