import type { ModelIdentity } from "../ports/embedder.js";
import { type Generation, generationOf, inGeneration } from "../ports/generation.js";
import type { Pinned } from "../ports/system-records.js";
import { isSame } from "./pin.js";

/** The models that a database was ever pinned to, at least one; the last one is pinned now. */
export class Pins {
  constructor(readonly all: readonly Pinned[]) {}

  get present(): Pinned {
    return this.all.at(-1) as Pinned;
  }

  /** Identity of a generation's model; undefined if there is no such generation. */
  modelOf(generation: Generation): ModelIdentity | undefined {
    return this.all.find((each) => each.generation === generation)?.model;
  }

  /** Number of dimensions of a log's vectors; undefined if its generation is not known. */
  dimensionsOf(logId: string): number | undefined {
    return this.modelOf(generationOf(logId))?.dimensions;
  }

  /** True if a log has vectors of the pinned model. */
  isAtPresent(logId: string): boolean {
    const model = this.modelOf(generationOf(logId));
    return model !== undefined && isSame(model, this.present.model);
  }

  /** Answers the ids of a log and of its possible copies. */
  familyOf(logId: string): string[] {
    return this.all.map(({ generation }) => inGeneration(logId, generation));
  }

  /** Answers the ids of copies of a log that may have been begun for a model which is no longer pinned. */
  staleCopiesOf(logId: string): string[] {
    return new Pins(this.all.slice(1, -1)).familyOf(logId).filter((copy) => copy !== logId);
  }
}
