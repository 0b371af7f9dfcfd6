import { hash } from "node:crypto";
import { typeid } from "typeid-js";
import { findGrant, type GrantingOptions, makeGrantedKey, takeCode } from "../../accounts/oauth/granting.js";
import type { Parameters } from "./authorization.js";
import type { Clients } from "./clients.js";
import { SCOPES } from "./metadata.js";
import { OAuthError } from "./refusals.js";

export interface ExchangeOptions {
  readonly granting: GrantingOptions;
  readonly clients: Pick<Clients, "isKnown">;
}

/**
 * Exchanges a code for a key, and returns the answer (RFC 6749, 4.1.3 and 5.1, and RFC 7636, 4.6).
 *
 * @throws MemoryError, an OAuthError if it is the application's mistake.
 */
export async function exchange(
  { client_id: clientId, grant_type, code, code_verifier: verifier, redirect_uri }: Parameters,
  { granting, clients }: ExchangeOptions,
): Promise<object> {
  if (grant_type === undefined) throw new OAuthError("invalid_request", "grant_type is missing");
  if (clientId === undefined || !(await clients.isKnown(clientId)))
    throw new OAuthError("invalid_client", "client_id is missing, or not one of an application", 401);
  if (code === undefined) throw new OAuthError("invalid_request", "code is missing");
  const grant = await findGrant(granting, code);
  if (grant?.clientId !== clientId) throw invalidGrant("code is unknown, used or another application's");
  if (grant.expiresAtMs < Date.now()) throw invalidGrant("code has expired");
  const keyId = typeid("key").toString();
  // A wrong verifier uses the code up as well, so nobody can try many.
  if (!(await takeCode(granting, { ...grant, keyId }))) throw invalidGrant("code is used");
  if (verifier === undefined || hash("sha256", verifier, "base64url") !== grant.challenge)
    throw invalidGrant("code_verifier is missing, or not the one of the challenge");
  if (redirect_uri !== grant.redirectUri)
    throw new OAuthError("invalid_request", "redirect_uri is not the one that the code was sent to");
  const made = await makeGrantedKey(granting, { grant, keyId });
  if (made === undefined) throw invalidGrant("the account takes no more keys");
  return {
    access_token: made.secret,
    token_type: "Bearer",
    expires_in: Math.floor((made.expiresAtMs - Date.now()) / 1000),
    scope: grant.access === "full" ? `${SCOPES.read} ${SCOPES.write}` : SCOPES.read,
  };
}

function invalidGrant(description: string): OAuthError {
  return new OAuthError("invalid_grant", description);
}
