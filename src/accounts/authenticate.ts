import { LRUCache } from "lru-cache";
import { MemoryError } from "../errors.js";
import type { Accounts } from "./account.js";
import { hashKey, isWellFormedKey, type Key, type KeyAccess } from "./key.js";

/** Keys whose account is remembered; the least recently used is forgotten first. */
const KNOWN_KEYS_MAX = 10_000;

/** A key's plan is read again, behind a call, when it was read so long ago. */
export const PLAN_KEPT_MS = 30_000;
/** And before the call, when that was so long ago: within a minute a change is followed. */
const PLAN_OLD_MS = 2 * PLAN_KEPT_MS;
/** A call waits so long for that; then the plan that is known applies. */
const PLAN_WAIT_MS = 1_000;

/** A key that was found to be some account's, and what it may do. */
export interface Authenticated {
  readonly accountId: string;
  readonly keyHash: string;
  readonly access: KeyAccess;
  /** The only namespace it may touch. */
  readonly namespace?: string;
}

/** Who was let in. */
export interface Principal extends Authenticated {
  /** The name of the account's plan; a change of it is followed within a minute. */
  readonly plan: string;
}

interface Known {
  caller: Principal;
  /** When its plan was read last, or was tried to be. */
  readAtMs: number;
  /** While a plan is read that is too old to be used: for calls to wait for. */
  reading?: Promise<void> | undefined;
}

export interface AuthenticatorOptions {
  readonly accounts: Accounts;
  /** Told of every use of a key. */
  onUse(caller: Authenticated): void;
}

/**
 * The authenticate: who is asking? It turns strangers away before their body is read. A key it has seen is
 * answered from memory: whose a key is and what it may do never changes, and whether it still lives
 * is proved again by the charge, or by whoever charges nothing. Its plan may change, and is read again
 * now and then.
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

/** Reads the plan again when it is time: behind the call that it is noticed by, unless it is too old. */
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
    // A database that is away leaves the plan as it is.
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
