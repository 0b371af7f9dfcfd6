import type { ModelIdentity } from "../memory/ports/embedder.js";
import type { Pinned, Plan } from "../memory/ports/plan.js";

/**
 * The pinned model as databases keep it. Their field for a model generation is `edition`, an older word
 * for it; a database that still has its first model may have no such field.
 */
export interface ModelRecord extends ModelIdentity {
  readonly edition?: string;
  readonly previous?: { readonly edition: string; readonly modelId: string };
}

/** A plan as databases keep it. */
export interface PlanRecord extends Omit<Plan, "generation"> {
  readonly edition: string;
}

export function toModelRecord({ model, generation, previous }: Pinned): ModelRecord {
  const before = previous && { edition: previous.generation, modelId: previous.modelId };
  return { ...model, edition: generation, ...(before && { previous: before }) };
}

export function fromModelRecord(record: ModelRecord | null | undefined): Pinned | undefined {
  if (record === null || record === undefined) return undefined;
  const { edition = "", previous, ...model } = record;
  const before = previous && { generation: previous.edition, modelId: previous.modelId };
  return { model, generation: edition, ...(before && { previous: before }) };
}

export function toPlanRecord({ generation, ...plan }: Plan): PlanRecord {
  return { edition: generation, ...plan };
}

export function fromPlanRecord({ edition, ...plan }: PlanRecord): Plan {
  return { generation: edition, ...plan };
}
