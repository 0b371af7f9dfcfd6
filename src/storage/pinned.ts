import type { ModelIdentity } from "../memory/ports/embedder.js";
import type { Pinned } from "../memory/ports/system-records.js";

/** A pinned model as both databases keep it: `generation` is its model version. */
export interface PinnedRecord {
  readonly generation: string;
  readonly model: ModelIdentity;
}

export function pinnedRecordOf({ modelVersion, model }: Pinned): PinnedRecord {
  return { generation: modelVersion, model };
}

export function pinnedOf({ generation, model }: PinnedRecord): Pinned {
  return { modelVersion: generation, model };
}
