import { LRUCache } from "lru-cache";
import { Buckets, type Rate } from "../concurrency/bucket.js";
import { MemoryError } from "../errors.js";
import type { Caller } from "../memory/ports/quota.js";
import type { Account, Accounts } from "./account.js";
import { endReplaced } from "./changes.js";
import { answersTo, hashKey, isWellFormed } from "./key.js";

/** Keys and sessions whose account is remembered; the least recently used is forgotten first. */
const KNOWN_KEYS_MAX = 10_000;

/** Time for which an unknown key is refused from memory: a client that repeats one costs its neighbours nothing. */
const UNKNOWN_TTL_MS = 10_000;
/**
 * Look-ups of one network in the database that find no key. The burst is also the number of look-ups at a
 * time: a restart makes the keys of many users behind one address new at once.
 */
const UNKNOWN_KEYS: Rate = { burst: 100, perSecond: 1 };

/** Age after which a key's plan is read again, without a call waiting for it. */
export const PLAN_TTL_MS = 30_000;
/** Age after which a call waits for that reading, so that a change takes effect within a minute. */
const PLAN_OLD_MS = 2 * PLAN_TTL_MS;
/** Maximum time that a call waits for it; then the known plan applies. */
const PLAN_WAIT_MS = 1_000;

/** Proof of who calls: an API key, or the secret of a browser's session. */
export type Credential = { readonly key: string } | { readonly session: string };

/** A caller whose key was accepted. */
export interface Principal extends Caller {
  readonly keyId: string;
  /** The name of the account's plan; a change takes effect within a minute. */
  readonly plan: string;
}

interface Known {
  caller: Principal;
  /** Time from which it is refused here. It may end sooner: the charge knows at once, and the next reading of its plan. */
  endsAtMs: number;
  /** Time of the last reading of its plan, successful or not. */
  readAtMs: number;
  /** The reading that calls wait for, while the known plan is too old to be used. */
  reading?: Promise<void> | undefined;
}

/** Finds the principal that holds a key or a session, which a caller in this network shows. */
export type Authenticate = (credential: Credential | undefined, network: string) => Promise<Principal>;

interface AuthenticatorOptions {
  readonly accounts: Accounts;
  /** Called for every use of a key. */
  onUse(caller: Caller): void;
}

/**
 * Opens the authenticator, which finds the caller of a key or a session, and refuses unknown ones before
 * their request's body is read. It answers known keys from memory: the account and the permissions of a key never change,
 * and the charge, or a call that costs nothing, proves again that the key lives. The plan may change, so
 * it is read again now and then. A network that shows too many unknown keys has to wait until more of its keys
 * are looked up; keys in memory pass.
 *
 * @throws MemoryError `unauthenticated`, `resource_exhausted` after too many unknown keys, or `unavailable`
 * when the database cannot answer.
 */
export function openAuthenticator({ accounts, onUse }: AuthenticatorOptions): Authenticate {
  /** Time until which an unknown key is not looked up again. */
  const unknown = new LRUCache<string, number>({ max: KNOWN_KEYS_MAX });
  const tokens = new Buckets(UNKNOWN_KEYS);
  const lookUp = async (hash: string, network: string) => {
    if ((unknown.get(hash) ?? 0) > performance.now()) throw unknownKey();
    tokens.check(network, "too many unknown API keys or sessions from this address");
    tokens.take(network);
    try {
      const found = await loadKey(accounts, hash);
      tokens.giveBack(network);
      return found;
    } catch (error) {
      if (error instanceof MemoryError && error.code === "unauthenticated")
        unknown.set(hash, performance.now() + UNKNOWN_TTL_MS);
      else tokens.giveBack(network);
      throw error;
    }
  };
  // One that several calls show at a time is looked up only once, and answered also if it is forgotten meanwhile.
  const known = new LRUCache<string, Known, string>({
    max: KNOWN_KEYS_MAX,
    fetchMethod: (hash, _known, { context }) => lookUp(hash, context),
    ignoreFetchAbort: true,
  });
  return async (credential, network) => {
    const hash = hashOf(credential);
    const entry = known.get(hash) ?? ((await known.fetch(hash, { context: network })) as Known);
    if (entry.endsAtMs <= Date.now()) throw unknownKey();
    refreshPlan(entry, accounts);
    if (entry.reading !== undefined) await entry.reading;
    onUse(entry.caller);
    return entry.caller;
  };
}

/** Hashes what a caller shows, if it has the form that it must have. */
function hashOf(credential: Credential | undefined): string {
  if (credential === undefined) throw refused("an API key is needed: Authorization: Bearer rcl_…");
  if ("session" in credential) {
    if (isWellFormed(credential.session, "session")) return hashKey(credential.session);
    throw refused("this is not a session of recalld; sign in again");
  }
  if (isWellFormed(credential.key, "key")) return hashKey(credential.key);
  throw refused("this is not an API key of recalld, or it is mistyped");
}

/** Returns the hash that proves who the caller is. A session lives only as long as its key. */
export function proofOf({ keyHash, sessionHash }: Pick<Caller, "keyHash" | "sessionHash">): string {
  return sessionHash ?? keyHash;
}

export function unknownKey(): MemoryError {
  return refused("this API key is unknown or was revoked, or the session has ended");
}

/** Reads an old plan again. The call does not wait for it, unless the plan is too old to be used. */
function refreshPlan(entry: Known, accounts: Accounts): void {
  const nowMs = performance.now();
  const agoMs = nowMs - entry.readAtMs;
  if (agoMs <= PLAN_TTL_MS) return;
  entry.readAtMs = nowMs;
  const reading = readAgain(entry, accounts);
  if (agoMs <= PLAN_OLD_MS) return;
  const waited = new Promise<void>((done) => void setTimeout(done, PLAN_WAIT_MS).unref());
  entry.reading = Promise.race([reading, waited]).finally(() => {
    entry.reading = undefined;
  });
}

async function readAgain(entry: Known, accounts: Accounts): Promise<void> {
  const { caller } = entry;
  try {
    const account = await accounts.findByKey(proofOf(caller));
    // A revoked key is refused from now on: its requests must not use up the rate of its account.
    if (account === undefined) entry.endsAtMs = 0;
    else entry.caller = { ...caller, plan: account.plan };
  } catch {
    // During a database outage the plan stays as it is.
  }
}

async function loadKey(accounts: Accounts, hash: string): Promise<Known> {
  const account = await accounts.findByKey(hash);
  const key = account?.keys.find((each) => answersTo(each, hash));
  if (account === undefined || key === undefined) throw unknownKey();
  const session = key.sessions?.find((each) => each.hash === hash);
  const endsAtMs = Math.min(key.expiresAtMs, session?.expiresAtMs ?? key.expiresAtMs);
  if (endsAtMs <= Date.now()) throw unknownKey();
  const { id: keyId, access, namespace, hash: keyHash, graceMs = 0 } = key;
  const { id: accountId, plan } = account;
  // Its first use ends also those that the replaced key replaces: if that was never used, nothing else does.
  if (key.replaces !== undefined)
    await endReplaced(accounts, { accountId, keyId, atMs: Date.now() + graceMs });
  const caller = {
    accountId,
    keyId,
    keyHash,
    access,
    plan,
    ...(namespace !== undefined && { namespace }),
    ...(session !== undefined && { sessionHash: session.hash }),
  };
  return { caller, endsAtMs, readAtMs: performance.now() };
}

function refused(message: string): MemoryError {
  return new MemoryError("unauthenticated", message);
}

/**
 * Takes calls from the caller's plan, all or none. The same atomic step proves that the key lives, and the
 * session if there is one; the reason is looked up only if that step fails.
 *
 * @throws MemoryError `unauthenticated` or `resource_exhausted` (QUOTA_EXHAUSTED).
 */
export async function charge(accounts: Accounts, caller: Caller, calls = 1): Promise<void> {
  if (await accounts.charge({ accountId: caller.accountId, keyHash: proofOf(caller), calls })) return;
  const { callsLimit, callsLeft } = await getAccount(accounts, caller);
  const message =
    calls > 1 && callsLeft > 0
      ? `this needs ${calls} calls, and ${callsLeft} of this account's plan are left`
      : `all ${callsLimit.toLocaleString("en-US")} calls of this account's plan are used`;
  throw new MemoryError("resource_exhausted", message, { reason: "QUOTA_EXHAUSTED" });
}

/** Finds the caller's own account. @throws MemoryError `unauthenticated` if the key or the session ended. */
export async function getAccount(accounts: Accounts, caller: Caller): Promise<Account> {
  const account = await accounts.findByKey(proofOf(caller));
  if (account === undefined) throw unknownKey();
  return account;
}
