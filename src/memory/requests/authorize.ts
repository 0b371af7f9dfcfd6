import { MemoryError, type Reason } from "../../errors.js";
import type { Scope } from "../ports/names.js";
import type { Caller, Quota } from "../ports/quota.js";
import { scopeOf } from "./namespace.js";

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
 * Parses the namespace of a call that costs nothing, whose key no charge will prove, and authorizes the call.
 *
 * @throws MemoryError `invalid_argument`, `unauthenticated`, or `permission_denied`.
 */
export async function authorizeFree(
  { quota }: { readonly quota: Quota },
  request: { readonly caller: Caller; readonly namespace: string },
  { writes }: Pick<Action, "writes">,
): Promise<Scope> {
  const scope = scopeOf(request);
  await quota.verify(request.caller);
  expectPermitted(request.caller, { writes, namespace: scope.namespace });
  return scope;
}

/** @throws MemoryError `permission_denied` */
export function expectPermitted({ access, namespace }: Caller, action: Action): void {
  if (action.writes && access !== "full") {
    throw denied("KEY_READ_ONLY", "this key may only read: it cannot store or delete");
  }
  if (namespace === undefined || namespace === action.namespace) return;
  const message = `this key is for the namespace ${namespace} alone`;
  throw denied("KEY_OTHER_NAMESPACE", message, "this key is for another namespace alone");
}

export function denied(reason: Reason, message: string, recorded?: string): MemoryError {
  return new MemoryError("permission_denied", message, { reason, recorded });
}
