import { systemClock } from "../../src/concurrency/clock.js";
import { ModelVersions, type ModelVersionsOptions } from "../../src/memory/models/model-versions.js";
import { Pins } from "../../src/memory/models/pin.js";
import type { Embedder } from "../../src/memory/ports/embedder.js";
import type { Pinned } from "../../src/memory/ports/model-version.js";

/** Makes a model that returns this vector for every text. */
export function modelOf(vector: readonly number[], id = "none"): Embedder {
  return {
    model: { id, revision: "", dtype: "", dimensions: vector.length },
    embed: async () => ({ vectors: Float32Array.from(vector), tokens: 1 }),
    unreadShare: () => 0,
  };
}

/** Makes one model version, of a model with vectors of this length. */
export function oneModelVersion(dimensions: number): ModelVersions {
  return modelVersionsOf(modelOf(new Array(dimensions).fill(1)));
}

/** Makes the models of a database which is pinned to a loaded one; `before` are those that it had before. */
export function modelVersionsOf(
  model: Embedder,
  { before = [], ...options }: Partial<ModelVersionsOptions> & { readonly before?: readonly Pinned[] } = {},
): ModelVersions {
  const pins = [
    ...before,
    { modelVersion: before.length === 0 ? "" : `e${before.length}`, model: model.model },
  ];
  return new ModelVersions(
    new Pins(pins),
    { ...model, close: async () => {} },
    {
      systemRecords: { models: async () => pins },
      clock: systemClock,
      openModel: () => Promise.reject(new Error("there is no other model")),
      onTrouble: () => {},
      ...options,
    },
  );
}
