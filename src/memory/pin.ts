import { MemoryError } from "../errors.js";
import type { ModelIdentity } from "./embedder.js";

/** The port to the facts that hold for a whole database. */
export interface Facts {
  /** The model whose vectors the database holds: the given one if none was pinned before. */
  pinModel(model: ModelIdentity): Promise<ModelIdentity>;
  /** The model whose vectors the database holds, if it was pinned. */
  pinnedModel(): Promise<ModelIdentity | undefined>;
}

/** Vectors of two models cannot be compared: a database keeps to the one it began with. */
export async function holdTo(facts: Facts, model: ModelIdentity): Promise<void> {
  const pinned = await facts.pinModel(model);
  const same = (Object.keys(model) as (keyof ModelIdentity)[]).every((key) => pinned[key] === model[key]);
  if (same) return;
  throw new MemoryError(
    "failed_precondition",
    `the database holds vectors of ${describe(pinned)}, but MODEL is ${describe(model)}; ` +
      "start with that model, or with an empty database",
  );
}

function describe({ id, revision, dtype, dimensions }: ModelIdentity): string {
  return `${id} (revision ${revision.slice(0, 12)}, ${dtype}, ${dimensions} dimensions)`;
}
