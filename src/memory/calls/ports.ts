import type { Idempotency } from "../idempotency/idempotency.js";
import type { Namespaces } from "../log/namespaces.js";
import type { Generations } from "../models/generations.js";
import type { Clock } from "../pacing/clock.js";
import type { Quota } from "../ports/quota.js";

/** Order of results: by meaning alone, or by meaning and words together. */
export type RecallMode = "cosine" | "hybrid";

export interface Ports {
  readonly generations: Generations;
  readonly quota: Quota;
  readonly namespaces: Namespaces;
  readonly idempotency: Idempotency;
  readonly clock: Clock;
  /** Order of a recall that asks for none; by meaning alone if left out. */
  readonly recallMode?: RecallMode | undefined;
}
