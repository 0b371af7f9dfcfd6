import { createHash } from "node:crypto";
import { invalid } from "../../errors.js";
import { newMemoryId } from "../input/id.js";
import type { Claim } from "../ports/claims.js";
import type { Scope } from "../ports/log.js";

export const IDEMPOTENCY_KEY_CHARS_MAX = 255;
/** Lifetime of a key. */
export const IDEMPOTENCY_KEPT_MS = 24 * 60 * 60 * 1000;

export interface IdempotentRequest {
  readonly scope: Scope;
  readonly idempotencyKey: string;
  /** Content by which two requests are compared. */
  readonly content: readonly string[];
  /** True if the key is for several memories: the caller of `run` then finds out which were deleted. */
  readonly several?: boolean;
}

/** Parses an idempotency key: 1–255 characters. */
export function parseIdempotencyKey(value: string): string {
  if (value === "") throw invalid("Idempotency-Key", "is empty");
  if (value.length <= IDEMPOTENCY_KEY_CHARS_MAX) return value;
  throw invalid(
    "Idempotency-Key",
    `is ${value.length} characters; the limit is ${IDEMPOTENCY_KEY_CHARS_MAX}`,
  );
}

/** Makes the claim with which an owner asks for a request's key. */
export function newClaim(
  { scope, idempotencyKey, content }: IdempotentRequest,
  { owner, claimedAtMs }: { owner: string; claimedAtMs: number },
): Claim {
  return {
    id: `${scope.accountId}:${sha256([idempotencyKey])}`,
    requestHash: sha256([scope.namespace, ...content]),
    memoryId: newMemoryId(),
    owner,
    claimedAtMs,
    expiresAtMs: claimedAtMs + IDEMPOTENCY_KEPT_MS,
  };
}

/** Hashes several strings, encoded so that different lists never collide. */
function sha256(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
