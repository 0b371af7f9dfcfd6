import type { ModelIdentity } from "./embedder.js";
import type { Records } from "./records.js";

/**
 * A model version of a database: the vectors of one model. It is part of a log's id: the first model's
 * logs are named `<random>`, a later model's `<random>x<model version>`. A log and its copies in other
 * model versions share the random part, and their entries share their numbers.
 */
export type ModelVersion = string;

/** Model version of a database's first model. */
export const FIRST_MODEL_VERSION: ModelVersion = "";

/** Separator: no hexadecimal digit, and without meaning in file names and database keys. */
const MARK = "x";

export function modelVersionOf(logId: string): ModelVersion {
  return logId.split(MARK)[1] ?? FIRST_MODEL_VERSION;
}

/** Returns the id of the same log in another model version. */
export function inModelVersion(logId: string, modelVersion: ModelVersion): string {
  const base = baseOf(logId);
  return modelVersion === FIRST_MODEL_VERSION ? base : `${base}${MARK}${modelVersion}`;
}

/** Returns the part of a log's id that it shares with its copies. */
export function baseOf(logId: string): string {
  return logId.split(MARK, 1)[0] as string;
}

/** Makes something once for each model version that is met. */
export function memoizeByModelVersion<T>(
  make: (modelVersion: ModelVersion) => T,
): (modelVersion: ModelVersion) => T {
  const made = new Map<ModelVersion, T>();
  return (modelVersion) => {
    if (!made.has(modelVersion)) made.set(modelVersion, make(modelVersion));
    return made.get(modelVersion) as T;
  };
}

/** A model that a database was pinned to, and the model version of the logs that have its vectors. */
export interface Pinned {
  readonly modelVersion: ModelVersion;
  readonly model: ModelIdentity;
}

/** The models that a database was pinned to. */
export interface ModelsRecord {
  readonly id: string;
  /** Model version of the last one of the models. */
  readonly pinned: ModelVersion;
  readonly models: readonly Pinned[];
}

const MODELS = "models";

/** The records of a whole database. Those of every adapter pass `test/contract/system-records.ts`. */
export type SystemRecords = ReturnType<typeof openSystemRecords>;

export function openSystemRecords(records: Records<ModelsRecord>) {
  const models = async () => (await records.find(MODELS))?.models ?? [];
  return {
    /** Reads all models that the database was ever pinned to; the last one is pinned now. */
    models,
    /**
     * Pins a model if the present one is still of the given model version; undefined means that there is none yet.
     * True if it did.
     */
    pin: async ({ after, to }: { after: ModelVersion | undefined; to: Pinned }): Promise<boolean> => {
      const pinned = to.modelVersion;
      if (after === undefined) {
        const first = await records.findOrInsert({ id: MODELS, pinned, models: [to] });
        return first.models.at(-1)?.model.id === to.model.id;
      }
      // No model version is pinned twice, so these are the models that were read.
      return records.update({ id: MODELS, pinned: after }, { pinned, models: [...(await models()), to] });
    },
  };
}
