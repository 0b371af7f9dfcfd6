import { failedPrecondition, type MemoryError } from "../../errors.js";
import { isRemote, type ModelIdentity } from "../ports/embedder.js";
import {
  FIRST_MODEL_VERSION,
  inModelVersion,
  type ModelVersion,
  modelVersionOf,
  type Pinned,
  type SystemRecords,
} from "../ports/model-version.js";

/**
 * Chooses the model to load for a database: the one that it is pinned to. `MODEL` must name it, or one before it:
 * a database's model changes while services run, and their settings are changed after that.
 *
 * @throws MemoryError `failed_precondition` if it names another.
 */
export function modelFor(wanted: string, models: readonly Pinned[]): string {
  const pinned = models.at(-1);
  if (pinned === undefined) return wanted;
  if (models.some(({ model }) => model.id === wanted)) return pinned.model.id;
  throw refused(pinned.model, `${wanted}; start with that model`);
}

type Aspect = keyof ModelIdentity;

/** Parts of a model's identity, in the order in which messages list them: their names, and what messages say of them. */
const ASPECTS: Readonly<Record<Aspect, readonly [name: string, inWords: (model: ModelIdentity) => string]>> =
  {
    id: ["id", ({ id }) => id],
    revision: ["revision", ({ revision }) => `revision ${revision.slice(0, 12)}`],
    dtype: ["dtype", ({ dtype }) => dtype],
    dimensions: ["dimensions", ({ dimensions }) => `${dimensions} dimensions`],
    pooling: ["pooling", ({ pooling = "mean" }) => `pooling ${pooling}`],
    passagePrefix: [
      "passage prefix",
      ({ passagePrefix: prefix }) =>
        prefix === undefined ? "no passage prefix" : `passage prefix ${JSON.stringify(prefix)}`,
    ],
  };

/**
 * Pins a new database to the model that was loaded for it, and checks that any other is pinned to that model.
 * Vectors of two models cannot be compared. Returns the database's models.
 *
 * @throws MemoryError `failed_precondition` if the database is pinned to another model.
 */
export async function pinned(
  systemRecords: SystemRecords,
  { model, models: known }: { model: ModelIdentity; models: readonly Pinned[] },
): Promise<readonly Pinned[]> {
  let models = known;
  if (models.length === 0) {
    await systemRecords.pin({ after: undefined, to: { modelVersion: FIRST_MODEL_VERSION, model } });
    models = await systemRecords.models();
  }
  const { model: present } = models.at(-1) as Pinned;
  const differing = differences(present, model);
  if (differing.length === 0) return models;
  throw refused(
    present,
    `${describe(model)}. They differ in ${differing.map((aspect) => ASPECTS[aspect][0]).join(", ")}; ` +
      `start with ${settingsFor(present, differing)}`,
  );
}

export function isSame(a: ModelIdentity, b: ModelIdentity): boolean {
  return differences(a, b).length === 0;
}

function differences(a: ModelIdentity, b: ModelIdentity): Aspect[] {
  return (Object.keys(ASPECTS) as Aspect[]).filter((aspect) => a[aspect] !== b[aspect]);
}

function refused(pinned: ModelIdentity, what: string): MemoryError {
  return failedPrecondition(
    `the database is pinned to ${describe(pinned)}, but MODEL is ${what}, ` +
      "or with an empty database; or change the database's model: recalld-admin reembed MODEL",
  );
}

export function describe(model: ModelIdentity): string {
  const [id, ...rest] = Object.values(ASPECTS).map(([, inWords]) => inWords(model));
  return `${id} (${rest.join(", ")})`;
}

/** Names the settings that read the same model as before, or the model itself if settings are not enough. */
function settingsFor(
  { id, dimensions, pooling = "mean", passagePrefix }: ModelIdentity,
  differing: readonly Aspect[],
): string {
  const prefix = passagePrefix === undefined ? "none" : JSON.stringify(passagePrefix);
  const settings: Partial<Record<Aspect, string>> = isRemote(id)
    ? { dimensions: `EMBED_DIMENSIONS=${dimensions}`, passagePrefix: `EMBED_TEXT_PREFIX=${prefix}` }
    : {
        ...(id === "bundled" && { revision: "the model of the release before in MODELS_DIR/bundled" }),
        pooling: `MODEL_POOLING=${pooling}`,
        passagePrefix: `MODEL_PASSAGE_PREFIX=${prefix}`,
      };
  const needed = differing.map((aspect) => settings[aspect]);
  return needed.includes(undefined) ? "that model" : needed.join(" and ");
}

/** The models that a database was ever pinned to, at least one; the last one is pinned now. */
export class Pins {
  constructor(readonly all: readonly Pinned[]) {}

  get present(): Pinned {
    return this.all.at(-1) as Pinned;
  }

  /** Identity of a model version's model; undefined if there is no such modelVersion. */
  modelOf(modelVersion: ModelVersion): ModelIdentity | undefined {
    return this.all.find((each) => each.modelVersion === modelVersion)?.model;
  }

  /** Number of dimensions of a log's vectors; undefined if its model version is not known. */
  dimensionsOf(logId: string): number | undefined {
    return this.modelOf(modelVersionOf(logId))?.dimensions;
  }

  /** True if a log has vectors of the pinned model. */
  isAtPresent(logId: string): boolean {
    const model = this.modelOf(modelVersionOf(logId));
    return model !== undefined && isSame(model, this.present.model);
  }

  /** Ids of a log and of its possible copies. */
  logsAcrossModels(logId: string): string[] {
    return this.all.map(({ modelVersion }) => inModelVersion(logId, modelVersion));
  }
}
