import type { ModelIdentity } from "../memory/ports/embedder.js";
import type { Pinned } from "../memory/ports/plan.js";

/** The pinned model as databases keep it: its first edition has no word for itself. */
export type ModelRecord = ModelIdentity & Partial<Omit<Pinned, "model">>;

export function toModelRecord({ model, ...rest }: Pinned): ModelRecord {
  return { ...model, ...rest };
}

export function fromModelRecord(record: ModelRecord | null | undefined): Pinned | undefined {
  if (record === null || record === undefined) return undefined;
  const { edition = "", previous, ...model } = record;
  return { model, edition, ...(previous && { previous }) };
}
