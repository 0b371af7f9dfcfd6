import { failedPrecondition, invalid, MemoryError, parseWhole } from "../errors.js";
import type { Caller } from "../memory/ports/quota.js";
import { denied } from "../memory/requests/authorize.js";
import { checkCharacters, parseNamespace } from "../memory/requests/namespace.js";
import { type Expiry, parseExpiry } from "../memory/requests/times.js";
import { type Account, type Accounts, KEYS_MAX } from "./account.js";
import { getAccount } from "./authenticate.js";
import { addKey, removeKey, removeSession } from "./changes.js";
import { type Key, type KeyAccess, makeKey, NEVER_MS, type Session } from "./key.js";

export const KEY_NAME_BYTES_MAX = 64;
export const GRACE_SECONDS_MAX = 86_400;

export interface CreateKeyRequest {
  /** Finds the account, once the request is checked; refuses a caller who may not manage it. */
  account(): Promise<Account>;
  readonly name: string;
  readonly access: KeyAccess;
  /** Empty means all namespaces. */
  readonly namespace: string;
  /** The id of the key to replace; empty means none. */
  readonly replaces: string;
  readonly graceSeconds?: number | undefined;
  /** The key never ends if it is left out, also when it replaces one that does. */
  readonly expiry?: Expiry | undefined;
}

/**
 * Creates a key. With `replaces` it has the permissions of that key, which ends once the new one is used.
 *
 * @throws MemoryError `invalid_argument`, `not_found` for what it replaces, or `failed_precondition`
 * (KEYS_LIMIT) when the account has 50.
 */
export async function createKey(
  accounts: Accounts,
  request: CreateKeyRequest,
): Promise<{ secret: string; key: Key }> {
  const { name } = request;
  checkCharacters("name", name, KEY_NAME_BYTES_MAX);
  const graceMs = parseWhole("grace_seconds", request.graceSeconds ?? 0, [0, GRACE_SECONDS_MAX]) * 1000;
  const namespace = request.namespace === "" ? {} : { namespace: parseNamespace(request.namespace) };
  refuseContradictions(request);
  const expiresAtMs = parseExpiry(request.expiry, Date.now()) ?? NEVER_MS;
  const account = await request.account();
  const given =
    request.replaces === ""
      ? { name, access: request.access, ...namespace }
      : replacementOf(keyWith(account, { field: "replaces", id: request.replaces }), { name, graceMs });
  const made = makeKey({ ...given, expiresAtMs });
  if (!(await addKey(accounts, { accountId: account.id, key: made.key }))) throw tooManyKeys();
  return made;
}

/**
 * Revokes a key and its sessions, or one session, on every replica at once.
 *
 * @throws MemoryError `not_found`, or `failed_precondition` (LAST_KEY) if it is the last one and
 * `force` is not set.
 */
export async function revokeKey(
  accounts: Accounts,
  { account, id, force }: { account(): Promise<Account>; id: string; force: boolean },
): Promise<void> {
  if (id === "") throw invalid("id", "is missing");
  const found = await account();
  const isMeant = (session: Session) => session.id === id;
  if (await removeSession(accounts, { accountId: found.id, isMeant })) return;
  keyWith(found, { field: "id", id });
  if (await removeKey(accounts, { accountId: found.id, keyId: id, force })) return;
  // Another call may have revoked it meanwhile.
  keyWith(await account(), { field: "id", id });
  throw failedPrecondition(
    "this is the account's last key, and nobody gets in without one; set force to revoke it",
    { reason: "LAST_KEY" },
  );
}

/**
 * Finds the caller's account, if its key may manage it.
 *
 * @throws MemoryError `permission_denied` for a key that may only read, or only touch one namespace.
 */
export async function managedBy(accounts: Accounts, caller: Caller): Promise<Account> {
  const account = await getAccount(accounts, caller);
  const { access, namespace } = caller;
  if (isOfClient(account, caller)) throw ofClient("it cannot manage the account");
  if (access !== "full")
    throw denied("KEY_READ_ONLY", "this key may only read: it cannot manage the account");
  if (namespace === undefined) return account;
  const message = `this key is for the namespace ${namespace} alone: it cannot manage the account`;
  const recorded = "this key is for one namespace alone: it cannot manage the account";
  throw denied("KEY_OTHER_NAMESPACE", message, recorded);
}

/** True if an application got the caller's key by OAuth. */
export function isOfClient({ keys }: Pick<Account, "keys">, { keyHash }: Caller): boolean {
  return keys.some(({ hash, client }) => hash === keyHash && client !== undefined);
}

/** Creates the error for what a key that an application got may not do. */
export function ofClient(consequence: string): MemoryError {
  return denied("KEY_OF_CLIENT", `an application got this key by OAuth: ${consequence}`);
}

function keyWith({ keys }: Account, { field, id }: { field: string; id: string }): Key {
  const found = keys.find((key) => key.id === id);
  if (found === undefined)
    throw new MemoryError("not_found", "the account has no key with this id", { field });
  return found;
}

function replacementOf(old: Key, { name, graceMs }: { name: string; graceMs: number }) {
  const { access, namespace, client } = old;
  if (client !== undefined) throw ofClient("the application must ask for another one itself");
  const scope = { access, ...(namespace !== undefined && { namespace }) };
  return { name: name === "" ? old.name : name, ...scope, replaces: old.id, graceMs };
}

/** Refuses options that would be ignored: a key must never be able to do more than was asked for. */
function refuseContradictions({
  access,
  namespace,
  replaces,
  graceSeconds,
}: Pick<CreateKeyRequest, "access" | "namespace" | "replaces" | "graceSeconds">): void {
  if (replaces === "") {
    if (graceSeconds === undefined) return;
    throw invalid("grace_seconds", "is of the key that replaces names; without one there is no grace");
  }
  const why = "follows from replaces: the new key may do what the old one may; make one without replaces";
  if (access !== "full") throw invalid("access", why);
  if (namespace !== "") throw invalid("namespace", why);
}

export function tooManyKeys(): MemoryError {
  return failedPrecondition(`the account has ${KEYS_MAX} keys; revoke one first`, { reason: "KEYS_LIMIT" });
}
