import { MemoryError } from "../errors.js";
import type { Accounts } from "./account.js";
import { hashKey, isWellFormedKey } from "./key.js";

/** Keys whose account is remembered; the least recently used is forgotten first. */
const KNOWN_KEYS_MAX = 10_000;

/** A key that was found to be some account's. */
export interface Authenticated {
  readonly accountId: string;
  readonly keyHash: string;
}

/**
 * The gate: who is asking? It turns strangers away before their body is read. A key it has seen is
 * answered from memory: which account a key belongs to never changes, and whether it still lives is
 * proved again by the charge.
 *
 * @throws MemoryError `unauthenticated`, or `unavailable` when the database cannot answer.
 */
export function openGate(accounts: Accounts): (key: string | undefined) => Promise<Authenticated> {
  const known = new Map<string, string>();
  return async (key) => {
    if (key === undefined) throw refused("an API key is needed: Authorization: Bearer rcl_…");
    if (!isWellFormedKey(key)) throw refused("this is not an API key of recalld, or it is mistyped");
    const keyHash = hashKey(key);
    const accountId = known.get(keyHash) ?? (await accounts.findByKey(keyHash))?.id;
    if (accountId === undefined) throw unknownKey();
    known.delete(keyHash);
    known.set(keyHash, accountId);
    if (known.size > KNOWN_KEYS_MAX) known.delete(known.keys().next().value as string);
    return { accountId, keyHash };
  };
}

export function unknownKey(): MemoryError {
  return refused("this API key is unknown or was revoked");
}

function refused(message: string): MemoryError {
  return new MemoryError("unauthenticated", message);
}
