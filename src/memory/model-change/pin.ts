import { MemoryError } from "../../errors.js";
import type { ModelIdentity } from "../ports/embedder.js";
import type { Generation } from "../ports/generation.js";
import type { Pinned, Plan, SystemRecords } from "../ports/plan.js";

/**
 * Chooses the model to load for a database: the model of its vectors. `MODEL` must name it, or the one before
 * it: a database's model changes while services run, and their settings are changed after that.
 *
 * @throws MemoryError `failed_precondition` if it names another.
 */
export function modelFor(
  wanted: string,
  { pinned, plan }: { pinned: Pinned | undefined; plan: Plan | undefined },
): string {
  if (pinned === undefined) return wanted;
  const { id } = pinned.model;
  if (![id, pinned.previous?.modelId, plan?.modelId].includes(wanted))
    throw refused(pinned.model, `${wanted}; start with that model`);
  return plan?.phase === "switching" ? plan.modelId : id;
}

type Aspect = keyof ModelIdentity;

const NAMES: Readonly<Record<Aspect, string>> = {
  id: "id",
  revision: "revision",
  dtype: "dtype",
  dimensions: "dimensions",
  pooling: "pooling",
  passagePrefix: "passage prefix",
};

/** Parts of a model's identity, in the order in which messages list them. */
const WORDS: Readonly<Record<Aspect, (model: ModelIdentity) => string>> = {
  id: ({ id }) => id,
  revision: ({ revision }) => `revision ${revision.slice(0, 12)}`,
  dtype: ({ dtype }) => dtype,
  dimensions: ({ dimensions }) => `${dimensions} dimensions`,
  pooling: ({ pooling = "mean" }) => `pooling ${pooling}`,
  passagePrefix: ({ passagePrefix }) =>
    passagePrefix === undefined ? "no passage prefix" : `passage prefix ${JSON.stringify(passagePrefix)}`,
};

/**
 * Answers the model generation of a model's vectors. Vectors of two models cannot be compared, so a database
 * keeps its model until it is re-embedded.
 *
 * @throws MemoryError `failed_precondition` if the database has another model.
 */
export async function generationFor(
  systemRecords: SystemRecords,
  { model, plan }: { model: ModelIdentity; plan: Plan | undefined },
): Promise<Generation> {
  const pinned = await systemRecords.pinModel(model);
  if (plan?.phase === "switching" && isSame(plan.model ?? model, model)) return plan.generation;
  const differing = differences(pinned.model, model);
  if (differing.length === 0) return pinned.generation;
  throw refused(
    pinned.model,
    `${describe(model)}. They differ in ${differing.map((aspect) => NAMES[aspect]).join(", ")}; ` +
      `start with ${settingsFor(pinned.model, differing)}`,
  );
}

export function isSame(a: ModelIdentity, b: ModelIdentity): boolean {
  return differences(a, b).length === 0;
}

function differences(a: ModelIdentity, b: ModelIdentity): Aspect[] {
  return (Object.keys(WORDS) as Aspect[]).filter((aspect) => a[aspect] !== b[aspect]);
}

function refused(pinned: ModelIdentity, what: string): MemoryError {
  return new MemoryError(
    "failed_precondition",
    `the database holds vectors of ${describe(pinned)}, but MODEL is ${what}, ` +
      "or with an empty database; or have it changed: recalld-admin reembed MODEL",
  );
}

function describe(model: ModelIdentity): string {
  const [id, ...rest] = Object.values(WORDS).map((inWords) => inWords(model));
  return `${id} (${rest.join(", ")})`;
}

/** Names the settings that read the same model as before, or the model itself if settings are not enough. */
function settingsFor(
  { pooling = "mean", passagePrefix }: ModelIdentity,
  differing: readonly Aspect[],
): string {
  const settings: Partial<Record<Aspect, string>> = {
    pooling: `MODEL_POOLING=${pooling}`,
    passagePrefix: `MODEL_PASSAGE_PREFIX=${passagePrefix === undefined ? "none" : JSON.stringify(passagePrefix)}`,
  };
  const needed = differing.map((aspect) => settings[aspect]);
  return needed.includes(undefined) ? "that model" : needed.join(" and ");
}
