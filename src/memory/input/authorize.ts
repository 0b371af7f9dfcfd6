import { MemoryError, type Reason } from "../../errors.js";
import type { Caller, Quota } from "../ports/quota.js";

/** What a call is about to do. */
export interface Action {
  /** Whether it changes anything. */
  readonly writes: boolean;
  /** The namespace it touches. */
  readonly namespace: string;
}

/**
 * Refuses what the caller's key may not do, before anything is charged or done.
 *
 * @throws MemoryError `permission_denied`; `unauthenticated` when the key does not even live.
 */
export async function authorize(quota: Quota, caller: Caller, action: Action): Promise<void> {
  const refusal = refusalOf(caller, action);
  if (refusal === undefined) return;
  // A revoked key learns nothing else.
  await quota.verify(caller);
  throw refusal;
}

/**
 * The same for a call that costs nothing, whose key no charge will prove.
 *
 * @throws MemoryError `unauthenticated`, or `permission_denied`.
 */
export async function authorizeFree(quota: Quota, caller: Caller, action: Action): Promise<void> {
  await quota.verify(caller);
  const refusal = refusalOf(caller, action);
  if (refusal !== undefined) throw refusal;
}

function refusalOf({ access, namespace }: Caller, action: Action): MemoryError | undefined {
  if (action.writes && access !== "full") {
    return denied("KEY_READ_ONLY", "this key may only read: it cannot store or delete");
  }
  if (namespace === undefined || namespace === action.namespace) return undefined;
  return denied("KEY_OTHER_NAMESPACE", `this key is for the namespace ${namespace} alone`);
}

function denied(reason: Reason, message: string): MemoryError {
  return new MemoryError("permission_denied", message, { reason });
}
