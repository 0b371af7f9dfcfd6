import { MemoryError } from "../errors.js";
import type { ModelIdentity } from "./embedder.js";

/** The port to the facts that hold for a whole database. */
export interface Facts {
  /** The model whose vectors the database holds: the given one if none was pinned before. */
  pinModel(model: ModelIdentity): Promise<ModelIdentity>;
  /** The model whose vectors the database holds, if it was pinned. */
  pinnedModel(): Promise<ModelIdentity | undefined>;
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

/** In the order in which they are told. */
const WORDS: Readonly<Record<Aspect, (model: ModelIdentity) => string>> = {
  id: ({ id }) => id,
  revision: ({ revision }) => `revision ${revision.slice(0, 12)}`,
  dtype: ({ dtype }) => dtype,
  dimensions: ({ dimensions }) => `${dimensions} dimensions`,
  pooling: ({ pooling = "mean" }) => `pooling ${pooling}`,
  passagePrefix: ({ passagePrefix }) =>
    passagePrefix === undefined ? "no passage prefix" : `passage prefix ${JSON.stringify(passagePrefix)}`,
};

/** Vectors of two models cannot be compared: a database keeps to the one it began with. */
export async function holdTo(facts: Facts, model: ModelIdentity): Promise<void> {
  const pinned = await facts.pinModel(model);
  const differing = (Object.keys(WORDS) as Aspect[]).filter((aspect) => pinned[aspect] !== model[aspect]);
  if (differing.length === 0) return;
  throw new MemoryError(
    "failed_precondition",
    `the database holds vectors of ${describe(pinned)}, but MODEL is ${describe(model)}. ` +
      `They differ in ${differing.map((aspect) => NAMES[aspect]).join(", ")}; start with ${settingsFor(pinned, differing)}, or with an empty database`,
  );
}

function describe(model: ModelIdentity): string {
  const [id, ...rest] = Object.values(WORDS).map((inWords) => inWords(model));
  return `${id} (${rest.join(", ")})`;
}

/** The same model read in another way needs no other model, only to be read as it was. */
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
