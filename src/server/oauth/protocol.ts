import OAuth2Server from "@node-oauth/oauth2-server";
import { typeid } from "typeid-js";
import { findGrant, type GrantingOptions, makeGrantedKey, useCode } from "../../accounts/oauth/granting.js";
import type { Grant } from "../../accounts/oauth/grants.js";
import { MemoryError } from "../../errors.js";
import type { Parameters } from "./authorization.js";
import type { Clients } from "./clients.js";
import { SCOPES } from "./metadata.js";
import { OAuthError } from "./refusals.js";

const GRANTS = ["authorization_code"];

export interface ExchangeOptions {
  readonly granting: GrantingOptions;
  readonly clients: Pick<Clients, "isKnown">;
}

/**
 * Exchanges a code for a key, and returns the answer: the part of OAuth that the library speaks.
 *
 * @throws MemoryError, an OAuthError if it is the application's mistake.
 */
export async function exchange(
  { client_id, grant_type, code, code_verifier, redirect_uri }: Parameters,
  authorization: string | undefined,
  options: ExchangeOptions,
): Promise<object> {
  const headers = {
    "content-type": "application/x-www-form-urlencoded",
    // The library reads no body that has no length.
    "content-length": "1",
    ...(authorization !== undefined && { authorization }),
  };
  const body = { client_id, grant_type, code, code_verifier, redirect_uri };
  const asking = new OAuth2Server.Request({ headers, method: "POST", query: {}, body });
  const answer = new OAuth2Server.Response();
  try {
    await new OAuth2Server({ model: exchangeModel(options) }).token(asking, answer, {
      requireClientAuthentication: { authorization_code: false },
    });
    return answer.body;
  } catch (error) {
    const { name, message, code: status, inner } = error as OAuth2Server.OAuthError & { inner?: unknown };
    // The library wraps what its model throws.
    if (inner instanceof MemoryError) throw inner;
    if (!(error instanceof OAuth2Server.OAuthError) || error instanceof OAuth2Server.ServerError) throw error;
    throw new OAuthError(name, message, name === "invalid_client" ? 401 : status);
  }
}

function exchangeModel({ granting, clients }: ExchangeOptions): OAuth2Server.AuthorizationCodeModel {
  const keyId = typeid("key").toString();
  return {
    getClient: async (id) => (await clients.isKnown(id)) && { id, grants: GRANTS },
    getAuthorizationCode: async (authorizationCode) => {
      const grant = await findGrant(granting, authorizationCode);
      if (grant === undefined) return undefined;
      return {
        authorizationCode,
        client: { id: grant.clientId, grants: GRANTS },
        user: grant,
        expiresAt: new Date(grant.expiresAtMs),
        redirectUri: grant.redirectUri,
        codeChallenge: grant.challenge,
        codeChallengeMethod: "S256",
        scope: grant.access === "full" ? [SCOPES.read, SCOPES.write] : [SCOPES.read],
      };
    },
    revokeAuthorizationCode: ({ user }) => useCode(granting, { ...(user as Grant), keyId }),
    // The key is made where it is saved.
    generateAccessToken: async () => "unmade",
    saveToken: async (token, client, user) => {
      const made = await makeGrantedKey(granting, { grant: user as Grant, keyId });
      if (made === undefined) {
        throw new OAuth2Server.InvalidGrantError("Invalid grant: the account takes no more keys");
      }
      const accessTokenExpiresAt = new Date(made.expiresAtMs);
      const { refreshToken, refreshTokenExpiresAt, ...rest } = token;
      return { ...rest, accessToken: made.secret, accessTokenExpiresAt, client, user };
    },
    // These are never asked for. Keys are checked where all keys are.
    getAccessToken: async () => undefined,
    saveAuthorizationCode: async () => undefined,
  };
}
