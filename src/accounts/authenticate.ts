import { MemoryError } from "../errors.js";
import type { Accounts } from "./account.js";
import { hashKey, isWellFormedKey, type Key, type KeyAccess } from "./key.js";

/** Keys whose account is remembered; the least recently used is forgotten first. */
const KNOWN_KEYS_MAX = 10_000;

/** A key that was found to be some account's, and what it may do. */
export interface Authenticated {
  readonly accountId: string;
  readonly keyHash: string;
  readonly access: KeyAccess;
  /** The only namespace it may touch. */
  readonly namespace?: string;
}

export interface GateOptions {
  readonly accounts: Accounts;
  /** Told of every use of a key. */
  onUse(caller: Authenticated): void;
}

/**
 * The gate: who is asking? It turns strangers away before their body is read. A key it has seen is
 * answered from memory: whose a key is and what it may do never changes, and whether it still lives
 * is proved again by the charge, or by whoever charges nothing.
 *
 * @throws MemoryError `unauthenticated`, or `unavailable` when the database cannot answer.
 */
export function openGate(options: GateOptions): (key: string | undefined) => Promise<Authenticated> {
  const known = new Map<string, Authenticated>();
  return async (key) => {
    if (key === undefined) throw refused("an API key is needed: Authorization: Bearer rcl_…");
    if (!isWellFormedKey(key)) throw refused("this is not an API key of recalld, or it is mistyped");
    const keyHash = hashKey(key);
    const caller = known.get(keyHash) ?? (await meet(options.accounts, keyHash));
    known.delete(keyHash);
    known.set(keyHash, caller);
    if (known.size > KNOWN_KEYS_MAX) known.delete(known.keys().next().value as string);
    options.onUse(caller);
    return caller;
  };
}

export function unknownKey(): MemoryError {
  return refused("this API key is unknown or was revoked");
}

async function meet(accounts: Accounts, keyHash: string): Promise<Authenticated> {
  const account = await accounts.findByKey(keyHash);
  const key = account?.keys.find(({ hash }) => hash === keyHash);
  if (account === undefined || key === undefined) throw unknownKey();
  await takePlace(accounts, account.id, key);
  const { access, namespace } = key;
  return { accountId: account.id, keyHash, access, ...(namespace !== undefined && { namespace }) };
}

/** A key's first use ends the one it replaces. Done twice, by two replicas, it comes to the same. */
async function takePlace(accounts: Accounts, accountId: string, key: Key): Promise<void> {
  const { id, replaces, graceMs = 0 } = key;
  if (replaces === undefined) return;
  await accounts.expireKey({ accountId, keyId: replaces, atMs: Date.now() + graceMs });
  // Last: whoever dies before this leaves it to the next use.
  await accounts.settleKey({ accountId, keyId: id });
}

function refused(message: string): MemoryError {
  return new MemoryError("unauthenticated", message);
}
