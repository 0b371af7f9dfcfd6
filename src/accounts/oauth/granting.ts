import { parseWhole } from "../../errors.js";
import type { Caller } from "../../memory/ports/quota.js";
import { parseNamespace } from "../../memory/requests/namespace.js";
import { type Accounts, KEYS_MAX } from "../account.js";
import { unknownKey } from "../authenticate.js";
import { addKey, removeKey } from "../changes.js";
import { hashKey, type KeyAccess, makeKey, newSecret } from "../key.js";
import { KEY_NAME_BYTES_MAX, managedBy, tooManyKeys } from "../keys.js";
import { DAY_MS } from "../usage.js";
import { destinationOf, type OAuthClient } from "./client.js";
import type { Grant, Grants } from "./grants.js";

/** Longest lifetime of a key that an application gets. */
const KEY_DAYS_MAX = 365;
const CODE_TTL_MS = 60_000;
/** Time after a consent in which a code that comes again ends the key that it gave. */
const RETENTION_MS = 60 * 60_000;

export interface GrantingOptions {
  readonly accounts: Accounts;
  readonly grants: Grants;
}

export interface Choice {
  readonly access: KeyAccess;
  /** Empty means all namespaces. */
  readonly namespace: string;
  readonly days: number;
}

/** Consent, and what the application asked for. */
export interface Consent extends Pick<Grant, "redirectUri" | "challenge" | "resource"> {
  readonly caller: Caller;
  readonly client: OAuthClient;
  readonly choice: Choice;
}

/**
 * Keeps the caller's consent, and returns the code for it.
 *
 * @throws MemoryError `permission_denied` for a key that may not manage the account, `invalid_argument`,
 * `failed_precondition` (KEYS_LIMIT), or `unauthenticated` if the account is closed meanwhile.
 */
export async function consent(
  { accounts, grants }: GrantingOptions,
  { caller, client, choice, ...request }: Consent,
): Promise<string> {
  const { access, days } = choice;
  parseWhole("days", days, [1, KEY_DAYS_MAX]);
  const namespace = choice.namespace === "" ? {} : { namespace: parseNamespace(choice.namespace) };
  const { id: accountId, keys } = await managedBy(accounts, caller);
  if (keys.length >= KEYS_MAX) throw tooManyKeys();
  // An application is named by its document's host or, without one, by the host that its codes are sent to.
  const label = client.host ?? destinationOf(request.redirectUri).host;
  const code = newSecret("code");
  const nowMs = Date.now();
  const grant = {
    id: hashKey(code),
    accountId,
    clientId: client.id,
    ...request,
    client: label,
    keyName: keyNameOf(client.name, label),
    access,
    ...namespace,
    keyTtlMs: days * DAY_MS,
    expiresAtMs: nowMs + CODE_TTL_MS,
    keptUntilMs: nowMs + RETENTION_MS,
  };
  await grants.findOrInsert(grant, nowMs);
  if (await accounts.isClosed(accountId)) {
    await grants.remove({ accountId });
    throw unknownKey();
  }
  return code;
}

/** Finds the grant of a code that was not used yet. One that was used ends the key that it gave. */
export async function findGrant(
  { accounts, grants }: GrantingOptions,
  code: string,
): Promise<Grant | undefined> {
  const found = await keptGrant(grants, hashKey(code));
  if (found?.keyId === undefined) return found;
  await endReplayed({ accounts, grants }, found.id);
  return undefined;
}

/** Finds a grant of which it is still known whether its code was used. */
async function keptGrant(grants: Grants, id: string): Promise<Grant | undefined> {
  const found = await grants.find(id);
  return found && found.keptUntilMs > Date.now() ? found : undefined;
}

/** Uses the code of a grant for a key that is yet to be made; true if nobody has used it. */
export async function useCode(
  { accounts, grants }: GrantingOptions,
  { id, expiresAtMs, keyId }: Pick<Grant, "id" | "expiresAtMs"> & { keyId: string },
): Promise<boolean> {
  if (expiresAtMs > Date.now() && (await grants.update({ id, keyId: undefined }, { keyId }))) return true;
  await endReplayed({ accounts, grants }, id);
  return false;
}

/** Makes the key of a grant whose code was used; undefined if the account has no room, or the code came again. */
export async function makeGrantedKey(
  { accounts, grants }: GrantingOptions,
  { grant, keyId }: { grant: Grant; keyId: string },
): Promise<{ secret: string; expiresAtMs: number } | undefined> {
  const { accountId, id, keyName: name, client, access, namespace, keyTtlMs } = grant;
  const expiresAtMs = Date.now() + keyTtlMs;
  const scope = { access, ...(namespace !== undefined && { namespace }) };
  const { secret, key } = makeKey({ id: keyId, name, client, ...scope, expiresAtMs });
  if (!(await addKey(accounts, { accountId, key }))) return undefined;
  // Who replays a code marks it before the key is removed: so either they find the key, or this finds the mark.
  if ((await grants.find(id))?.replayed !== true) return { secret, expiresAtMs };
  await removeKey(accounts, { accountId, keyId, force: true });
  return undefined;
}

/** Ends the key of a code that came twice: one of the two may be a thief (RFC 6749, 4.1.2). */
async function endReplayed({ accounts, grants }: GrantingOptions, id: string): Promise<void> {
  const grant = await keptGrant(grants, id);
  if (grant?.keyId === undefined) return;
  await grants.update({ id }, { replayed: true });
  await removeKey(accounts, { accountId: grant.accountId, keyId: grant.keyId, force: true });
}

function keyNameOf(name: string, label: string): string {
  if (name === "") return shortened(label, KEY_NAME_BYTES_MAX);
  const suffix = ` (${label})`;
  const cut = shortened(name, KEY_NAME_BYTES_MAX - Math.min(Buffer.byteLength(suffix), 40));
  return shortened(`${cut}${suffix}`, KEY_NAME_BYTES_MAX);
}

/** Cuts a text to a number of bytes, between characters. */
function shortened(text: string, bytesMax: number): string {
  // A character that is cut at the end waits for its other bytes.
  return new TextDecoder().decode(Buffer.from(text).subarray(0, bytesMax), { stream: true });
}
