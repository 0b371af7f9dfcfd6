import type { ModelIdentity } from "./embedder.js";
import type { ModelVersion } from "./model-version.js";

/** A model that a database was pinned to, and the model version of the logs that have its vectors. */
export interface Pinned {
  readonly modelVersion: ModelVersion;
  readonly model: ModelIdentity;
}

/** The port to the records of a whole database. Every adapter passes `test/contract/system-records.ts`. */
export interface SystemRecords {
  /** Reads all models that the database was ever pinned to; the last one is pinned now. */
  models(): Promise<readonly Pinned[]>;
  /**
   * Pins a model if the present one is still of the given model version; undefined means that there is none yet.
   * True if it did.
   */
  pin(request: { after: ModelVersion | undefined; to: Pinned }): Promise<boolean>;
}
