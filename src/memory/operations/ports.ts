import type { ErasurePorts } from "../erasure/erase.js";
import type { Idempotency } from "../idempotency/idempotency.js";
import type { DomainPorts } from "../ports/ports.js";
import type { Caller } from "../ports/quota.js";
import type { CallStep, StepTimer } from "../ports/step-timer.js";
import type { OnSecret } from "../requests/handle-secrets.js";
import type { JsonObject } from "../requests/metadata.js";

/** Order of results: by meaning alone, or by meaning and words together. */
export type RecallMode = "cosine" | "hybrid";

/** Ports of the operations, and their settings. */
export interface Ports extends ErasurePorts, Pick<DomainPorts, "quota"> {
  readonly idempotency: Idempotency;
  /** Order of a recall that asks for none; by meaning alone if left out. */
  readonly recallMode?: RecallMode | undefined;
  /** Action of a store or an update that names none; it stores what looks like a secret if left out. */
  readonly onSecret?: OnSecret | undefined;
  /** Maximum number of results of a recall; 20 if left out. */
  readonly topKMax?: number | undefined;
}

/** Request about one namespace of the caller's account. */
export interface NamespaceRequest {
  readonly caller: Caller;
  readonly namespace: string;
}

/** Request about memories of a namespace, which a filter selects or not. */
export interface SelectingRequest extends NamespaceRequest {
  /** All memories are meant if left out, and no ids are given. */
  readonly filter?: JsonObject | undefined;
  readonly includeSuperseded?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Request that changes memories: those with some ids, or those that a filter selects. */
export interface ChangingRequest extends SelectingRequest {
  readonly ids: readonly string[];
  readonly dryRun?: boolean | undefined;
}

/** Request that costs calls. */
export interface PaidRequest extends NamespaceRequest {
  /** Ends the work: aborted when the caller stops waiting, and by the operation itself if the charge is refused. */
  readonly controller?: AbortController | undefined;
  /** Time when the caller stops waiting, by `Clock.nowMs`. */
  readonly deadlineMs?: number | undefined;
  readonly timer?: StepTimer<CallStep> | undefined;
}
