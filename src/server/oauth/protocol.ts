import OAuth2Server from "@node-oauth/oauth2-server";
import { typeid } from "typeid-js";
import type { Authenticated } from "../../accounts/authenticate.js";
import type { OAuthClient } from "../../accounts/oauth/client.js";
import {
  type Choice,
  CODE_TTL_MS,
  consent,
  findGrant,
  type GrantingOptions,
  makeGrantedKey,
  useCode,
} from "../../accounts/oauth/granting.js";
import type { StoredGrant } from "../../accounts/oauth/grants.js";
import { invalid, MemoryError } from "../../errors.js";
import type { AuthorizationRequest, Problem } from "./authorization.js";
import type { Clients } from "./clients.js";
import { SCOPES } from "./metadata.js";
import { only, type Parameters } from "./parameters.js";

const GRANTS = ["authorization_code"];

/** Answer of the token endpoint that is an error. */
export interface Refused extends Problem {
  readonly status: number;
}

/** Consent of a signed-in user. */
export interface Consented {
  readonly caller: Authenticated;
  readonly choice: Choice;
  readonly request: AuthorizationRequest;
}

export interface ProtocolOptions {
  readonly granting: GrantingOptions;
  readonly clients: Pick<Clients, "isKnown">;
}

/** The part of OAuth that the library speaks: codes, and their exchange for keys. */
export function openOAuth(options: ProtocolOptions) {
  return {
    authorize: (consented: Consented) => authorize(consented, options),
    exchange: (form: Parameters, authorization: string | undefined) =>
      exchange({ form, authorization }, options),
  };
}

/** Returns a code for a consent. @throws MemoryError */
async function authorize(
  { caller, choice, request: { client, redirectUri, parameters } }: Consented,
  { granting }: ProtocolOptions,
): Promise<string> {
  const { code_challenge: challenge = "", resource = "" } = parameters;
  const asked = { caller, choice, client, redirectUri, challenge, resource };
  const server = new OAuth2Server({
    model: {
      ...NO_TOKENS,
      getClient: async () => shownToLibrary(client),
      validateRedirectUri: async (uri: string) => uri === redirectUri,
      generateAuthorizationCode: () => consent(granting, asked),
      saveAuthorizationCode: async (code) => ({ ...code, client: shownToLibrary(client), user: caller }),
    },
  });
  const names = ["client_id", "redirect_uri", "response_type", "code_challenge", "code_challenge_method"];
  const body = only(parameters, names);
  const asking = new OAuth2Server.Request({ headers: {}, method: "POST", query: {}, body });
  const handling = {
    authenticateHandler: { handle: () => caller },
    allowEmptyState: true,
    authorizationCodeLifetime: CODE_TTL_MS / 1000,
  };
  try {
    const { authorizationCode } = await server.authorize(asking, new OAuth2Server.Response(), handling);
    return authorizationCode;
  } catch (error) {
    throw ownIn(error) ?? (isOfProtocol(error) ? invalid("query", error.message) : error);
  }
}

/** Exchanges a code for a key, and returns the answer. */
async function exchange(
  { form, authorization }: { form: Parameters; authorization: string | undefined },
  options: ProtocolOptions,
): Promise<object | Refused> {
  const names = ["client_id", "grant_type", "code", "code_verifier", "redirect_uri"];
  const headers = {
    "content-type": "application/x-www-form-urlencoded",
    // The library reads no body that has no length.
    "content-length": "1",
    ...(authorization !== undefined && { authorization }),
  };
  const asking = new OAuth2Server.Request({ headers, method: "POST", query: {}, body: only(form, names) });
  const answer = new OAuth2Server.Response();
  try {
    await new OAuth2Server({ model: exchangeModel(options) }).token(asking, answer, {
      requireClientAuthentication: { authorization_code: false },
    });
    return answer.body;
  } catch (error) {
    const own = ownIn(error);
    if (own !== undefined) throw own;
    if (!isOfProtocol(error)) throw error;
    const { name, message, status } = error as Error & { status?: number };
    return {
      error: name,
      error_description: message,
      status: name === "invalid_client" ? 401 : (status ?? 400),
    };
  }
}

function exchangeModel({ granting, clients }: ProtocolOptions): OAuth2Server.AuthorizationCodeModel {
  const keyId = typeid("key").toString();
  return {
    ...NO_TOKENS,
    getClient: async (id) => (await clients.isKnown(id)) && { id, grants: GRANTS },
    getAuthorizationCode: async (code) => {
      const grant = await findGrant(granting, code);
      return grant && { ...codeOf(grant), authorizationCode: code };
    },
    revokeAuthorizationCode: ({ user }) => useCode(granting, { ...(user as StoredGrant), keyId }),
    // The key is made where it is saved.
    generateAccessToken: async () => "unmade",
    saveToken: async (token, client, user) => {
      const made = await makeGrantedKey(granting, { grant: user as StoredGrant, keyId });
      if (made === undefined) {
        throw new OAuth2Server.InvalidGrantError("Invalid grant: the account takes no more keys");
      }
      const accessTokenExpiresAt = new Date(made.expiresAtMs);
      const { refreshToken, refreshTokenExpiresAt, ...rest } = token;
      return { ...rest, accessToken: made.secret, accessTokenExpiresAt, client, user };
    },
  };
}

function codeOf(grant: StoredGrant) {
  const { clientId, redirectUri, challenge, expiresAtMs, access } = grant;
  return {
    client: { id: clientId, grants: GRANTS },
    user: grant,
    expiresAt: new Date(expiresAtMs),
    redirectUri,
    codeChallenge: challenge,
    codeChallengeMethod: "S256",
    scope: access === "full" ? [SCOPES.read, SCOPES.write] : [SCOPES.read],
  };
}

function shownToLibrary({ id, redirectUris }: OAuthClient): OAuth2Server.Client {
  return { id, redirectUris: [...redirectUris], grants: GRANTS };
}

/** Parts of the library's model that are never asked for. Keys are checked where all keys are. */
const NO_TOKENS = {
  getAccessToken: async () => undefined,
  getAuthorizationCode: async () => undefined,
  revokeAuthorizationCode: async () => false,
  saveToken: async () => undefined,
  saveAuthorizationCode: async () => undefined,
};

/** Returns the error of ours that the library has wrapped, if any. */
function ownIn(error: unknown): MemoryError | undefined {
  if (error instanceof MemoryError) return error;
  const { inner } = error as { inner?: unknown };
  return inner instanceof MemoryError ? inner : undefined;
}

/** True if an error is one that the protocol knows, and not the server's fault. */
function isOfProtocol(error: unknown): error is OAuth2Server.OAuthError {
  return error instanceof OAuth2Server.OAuthError && !(error instanceof OAuth2Server.ServerError);
}
