import { MemoryError, type Reason } from "../../errors.js";
import type { Caller, Quota } from "../ports/quota.js";

/** Access that a call needs. */
export interface Action {
  /** True if it changes data. */
  readonly writes: boolean;
  /** The namespace that it uses. */
  readonly namespace: string;
}

/**
 * Refuses a call that the caller's key does not permit, before any charge or work.
 *
 * @throws MemoryError `permission_denied`; `unauthenticated` if the key no longer lives.
 */
export async function authorize(quota: Quota, caller: Caller, action: Action): Promise<void> {
  try {
    expectPermitted(caller, action);
  } catch (refusal) {
    // A revoked key must learn nothing else.
    await quota.verify(caller);
    throw refusal;
  }
}

/**
 * Authorizes a call that costs nothing, whose key no charge will prove.
 *
 * @throws MemoryError `unauthenticated`, or `permission_denied`.
 */
export async function authorizeFree(quota: Quota, caller: Caller, action: Action): Promise<void> {
  await quota.verify(caller);
  expectPermitted(caller, action);
}

/** @throws MemoryError `permission_denied` */
function expectPermitted({ access, namespace }: Caller, action: Action): void {
  if (action.writes && access !== "full") {
    throw denied("KEY_READ_ONLY", "this key may only read: it cannot store or delete");
  }
  if (namespace === undefined || namespace === action.namespace) return;
  const message = `this key is for the namespace ${namespace} alone`;
  throw denied("KEY_OTHER_NAMESPACE", message, "this key is for another namespace alone");
}

function denied(reason: Reason, message: string, recorded?: string): MemoryError {
  return new MemoryError("permission_denied", message, { reason, recorded });
}
