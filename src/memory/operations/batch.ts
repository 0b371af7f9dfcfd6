import { MemoryError } from "../../errors.js";
import type { Answered, Attempt } from "../idempotency/idempotency.js";
import type { Scope } from "../ports/log.js";
import type { Redacted } from "../secrets/handle-secrets.js";
import type { PaidRequest } from "./ports.js";
import type { StoreOptions } from "./store-options.js";

/** Maximum number of items of a batch that are looked up at a time. */
export const LOOKING_MAX = 8;

export interface BatchItem {
  readonly id: string;
  readonly text: string;
  /** JSON of an object. */
  readonly metadata: string;
  readonly eventAtMs: number | undefined;
  /** Absent in a store that depends on nothing. */
  readonly storeOptions: StoreOptions | undefined;
}

export type BatchResult = StoredItem | { readonly error: MemoryError };

export interface StoredItem {
  readonly stored: Answered;
  /** Share of the text's letters and emoji that the model can hardly read; absent if it reads at least half. */
  readonly unreadShare?: number | undefined;
  /** Absent if nothing was redacted. */
  readonly redacted?: Redacted | undefined;
}

export interface Batch extends Omit<PaidRequest, "namespace"> {
  readonly scope: Scope;
  readonly items: readonly BatchItem[];
  /** Absent if no other attempt can store the same memories. */
  readonly attempt: Attempt | undefined;
}

/** Codes of errors that are about one memory, and not about the call. */
const OWN_CODES = ["unavailable", "resource_exhausted", "already_exists", "not_found", "failed_precondition"];

/** Returns the error of one memory. @throws anything that is not about this memory, or a fault of the server */
export function itemError(reason: unknown): MemoryError {
  if (reason instanceof MemoryError && OWN_CODES.includes(reason.code)) return reason;
  throw reason;
}
