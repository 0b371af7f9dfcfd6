import { LRUCache } from "lru-cache";
import { MemoryError } from "../errors.js";
import type { Accounts } from "./account.js";
import { hashKey, isWellFormedKey, type Key, type KeyAccess } from "./key.js";

/** Keys whose account is remembered; the least recently used is forgotten first. */
const KNOWN_KEYS_MAX = 10_000;

/** Age after which a key's plan is read again, without a call waiting for it. */
export const PLAN_KEPT_MS = 30_000;
/** Age after which a call waits for that reading, so that a change takes effect within a minute. */
const PLAN_OLD_MS = 2 * PLAN_KEPT_MS;
/** Maximum time that a call waits for it; then the known plan applies. */
const PLAN_WAIT_MS = 1_000;

/** A key that belongs to an account, and its permissions. */
export interface Authenticated {
  readonly accountId: string;
  readonly keyHash: string;
  readonly access: KeyAccess;
  /** The only namespace it may touch. */
  readonly namespace?: string;
}

/** A caller whose key was accepted. */
export interface Principal extends Authenticated {
  /** The name of the account's plan; a change takes effect within a minute. */
  readonly plan: string;
}

interface Known {
  caller: Principal;
  /** Time of the last reading of its plan, successful or not. */
  readAtMs: number;
  /** The reading that calls wait for, while the known plan is too old to be used. */
  reading?: Promise<void> | undefined;
}

export interface AuthenticatorOptions {
  readonly accounts: Accounts;
  /** Called for every use of a key. */
  onUse(caller: Authenticated): void;
}

/**
 * Opens the authenticator, which finds the caller of a key and refuses unknown keys before their request's
 * body is read. It answers known keys from memory: the account and the permissions of a key never change,
 * and the charge, or a call that costs nothing, proves again that the key lives. The plan may change, so
 * it is read again now and then.
 *
 * @throws MemoryError `unauthenticated`, or `unavailable` when the database cannot answer.
 */
export function openAuthenticator(
  options: AuthenticatorOptions,
): (key: string | undefined) => Promise<Principal> {
  const known = new LRUCache<string, Known>({ max: KNOWN_KEYS_MAX });
  return async (key) => {
    if (key === undefined) throw refused("an API key is needed: Authorization: Bearer rcl_…");
    if (!isWellFormedKey(key)) throw refused("this is not an API key of recalld, or it is mistyped");
    const keyHash = hashKey(key);
    const found = known.get(keyHash);
    const entry = found ?? { caller: await meet(options.accounts, keyHash), readAtMs: performance.now() };
    known.set(keyHash, entry);
    keepUp(entry, options.accounts);
    if (entry.reading !== undefined) await entry.reading;
    options.onUse(entry.caller);
    return entry.caller;
  };
}

export function unknownKey(): MemoryError {
  return refused("this API key is unknown or was revoked");
}

/** Reads an old plan again. The call does not wait for it, unless the plan is too old to be used. */
function keepUp(entry: Known, accounts: Accounts): void {
  const nowMs = performance.now();
  const agoMs = nowMs - entry.readAtMs;
  if (agoMs <= PLAN_KEPT_MS) return;
  entry.readAtMs = nowMs;
  const reading = readAgain(entry, accounts);
  if (agoMs <= PLAN_OLD_MS) return;
  entry.reading = notLong(reading).finally(() => {
    entry.reading = undefined;
  });
}

async function readAgain(entry: Known, accounts: Accounts): Promise<void> {
  const { caller } = entry;
  try {
    const account = await accounts.findByKey(caller.keyHash);
    if (account !== undefined) entry.caller = { ...caller, plan: account.plan };
  } catch {
    // During a database outage the plan stays as it is.
  }
}

function notLong(reading: Promise<void>): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, PLAN_WAIT_MS);
    void reading.finally(() => {
      clearTimeout(timer);
      done();
    });
  });
}

async function meet(accounts: Accounts, keyHash: string): Promise<Principal> {
  const account = await accounts.findByKey(keyHash);
  const key = account?.keys.find(({ hash }) => hash === keyHash);
  if (account === undefined || key === undefined) throw unknownKey();
  await takePlace(accounts, account.id, key);
  const { access, namespace } = key;
  const { id: accountId, plan } = account;
  return { accountId, keyHash, access, plan, ...(namespace !== undefined && { namespace }) };
}

/** Ends the key that this one replaces, on its first use. Two replicas may do this twice. */
async function takePlace(accounts: Accounts, accountId: string, key: Key): Promise<void> {
  const { id, replaces, graceMs = 0 } = key;
  if (replaces === undefined) return;
  await accounts.expireKey({ accountId, keyId: replaces, atMs: Date.now() + graceMs });
  // Last: if the process dies before this, the next use does it.
  await accounts.settleKey({ accountId, keyId: id });
}

function refused(message: string): MemoryError {
  return new MemoryError("unauthenticated", message);
}
