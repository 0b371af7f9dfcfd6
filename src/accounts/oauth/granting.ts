import { hash } from "node:crypto";
import { typeid } from "typeid-js";
import { failedPrecondition, invalid, type MemoryError, parseWhole } from "../../errors.js";
import type { Caller } from "../../memory/ports/quota.js";
import { parseNamespace } from "../../memory/requests/namespace.js";
import { type Accounts, KEYS_MAX } from "../account.js";
import { unknownKey } from "../authenticate.js";
import { addKey, removeKey } from "../changes.js";
import { hashKey, type Key, type KeyAccess, makeKey, newSecret } from "../key.js";
import { KEY_NAME_BYTES_MAX, managedBy, tooManyKeys } from "../keys.js";
import { DAY_MS } from "../usage.js";
import { destinationOf, type OAuthClient } from "./client.js";
import type { Grant, Grants } from "./grants.js";

/** Longest lifetime of a key that an application gets. */
export const KEY_DAYS_MAX = 365;
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
  const code = newSecret("code");
  const nowMs = Date.now();
  await grants.add({
    codeHash: hashKey(code),
    accountId,
    clientId: client.id,
    ...request,
    client: clientLabel(client, request),
    keyName: keyNameOf(client, request),
    access,
    ...namespace,
    keyTtlMs: days * DAY_MS,
    expiresAtMs: nowMs + CODE_TTL_MS,
    keptUntilMs: nowMs + RETENTION_MS,
  });
  if (await accounts.isClosed(accountId)) {
    await grants.removeOf(accountId);
    throw unknownKey();
  }
  return code;
}

/** Code, and what proves that it comes from the application that it was given to. */
interface Redemption {
  readonly code: string;
  readonly clientId: string;
  readonly verifier: string | undefined;
  readonly redirectUri: string | undefined;
}

/**
 * Makes the key of a consent for its code, which is used up by it, also where the verifier is wrong: nobody can try many
 * (RFC 6749, 4.1.3, and RFC 7636, 4.6). A code that comes twice ends its key: one of the two may be a thief.
 *
 * @throws MemoryError `failed_precondition` for a code or a verifier that is not the right one, or KEYS_LIMIT;
 * `invalid_argument` for another address
 */
export async function redeem(
  { accounts, grants }: GrantingOptions,
  { code, clientId, verifier, redirectUri }: Redemption,
): Promise<Pick<Key, "access" | "expiresAtMs"> & { secret: string }> {
  const codeHash = hashKey(code);
  const grant = await grants.find(codeHash);
  if (grant === undefined) throw unknownCode();
  const isUsed = grant.keyId !== undefined;
  if (!isUsed && grant.clientId !== clientId) throw unknownCode();
  if (!isUsed && grant.expiresAtMs < Date.now()) throw failedPrecondition("code has expired");
  const keyId = typeid("key").toString();
  const { accountId, keyName: name, client, access, namespace, keyTtlMs } = grant;
  if (isUsed || !(await grants.take({ codeHash, keyId }))) {
    const replayed = await grants.markReplayed(codeHash);
    if (replayed?.keyId !== undefined)
      await removeKey(accounts, { accountId, keyId: replayed.keyId, force: true });
    throw unknownCode();
  }
  if (verifier === undefined || hash("sha256", verifier, "base64url") !== grant.challenge)
    throw failedPrecondition("code_verifier is missing, or not the one of the challenge");
  if (redirectUri !== grant.redirectUri)
    throw invalid("redirect_uri", "is not the one that the code was sent to");
  const expiresAtMs = Date.now() + keyTtlMs;
  const scope = { access, ...(namespace !== undefined && { namespace }) };
  const { secret, key } = makeKey({ id: keyId, name, client, ...scope, expiresAtMs });
  if (!(await addKey(accounts, { accountId, key }))) throw tooManyKeys();
  // Who replays a code marks it before the key is removed: so either they find the key, or this finds the mark.
  if ((await grants.find(codeHash))?.replayed !== true) return { secret, access, expiresAtMs };
  await removeKey(accounts, { accountId, keyId, force: true });
  throw unknownCode();
}

function unknownCode(): MemoryError {
  return failedPrecondition("code is unknown, used, or another application's");
}

/** Names an application by what is known of it: where its document is, or where its codes go. */
function clientLabel({ host }: OAuthClient, { redirectUri }: Pick<Grant, "redirectUri">): string {
  return host ?? destinationOf(redirectUri).host;
}

function keyNameOf(client: OAuthClient, request: Pick<Grant, "redirectUri">): string {
  const place = ` (${clientLabel(client, request)})`;
  if (client.name === "") return shortened(place.slice(2, -1), KEY_NAME_BYTES_MAX);
  const name = shortened(client.name, KEY_NAME_BYTES_MAX - Math.min(Buffer.byteLength(place), 40));
  return shortened(`${name}${place}`, KEY_NAME_BYTES_MAX);
}

/** Cuts a text to a number of bytes, between characters. */
function shortened(text: string, bytesMax: number): string {
  // A character that is cut at the end waits for its other bytes.
  return new TextDecoder().decode(Buffer.from(text).subarray(0, bytesMax), { stream: true });
}
