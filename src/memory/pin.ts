import type { ModelIdentity } from "./embedder.js";

/** The port to the facts that hold for a whole database. */
export interface Facts {
  /** The model whose vectors the database holds: the given one if none was pinned before. */
  pinModel(model: ModelIdentity): Promise<ModelIdentity>;
  /** The model whose vectors the database holds, if it was pinned. */
  pinnedModel(): Promise<ModelIdentity | undefined>;
}
