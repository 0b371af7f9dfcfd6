import { isRegistered, type OAuthClient } from "../../accounts/oauth/client.js";
import { invalid } from "../../errors.js";
import { readQuery } from "../body.js";
import type { Clients } from "./clients.js";
import { resourceOf, SCOPES } from "./metadata.js";

/** Form of a challenge: SHA-256 in base64url. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/** Parameters of a request, each once. */
export type Parameters = Readonly<Partial<Record<string, string>>>;

/** Reads a query or a form. @throws MemoryError `invalid_argument` for a name that comes twice (RFC 6749, 3.1). */
export function parametersIn(text: string): Parameters {
  // One without a value counts as left out.
  return Object.fromEntries([...readQuery(`?${text}`)].filter(([, value]) => value !== ""));
}

/** Error that the application is told, by its address. */
export interface Problem {
  readonly error: string;
  readonly error_description: string;
}

/** Request of an application for a key, whose answer may be sent to its address. */
export interface AuthorizationRequest {
  readonly client: OAuthClient;
  readonly redirectUri: string;
  readonly parameters: Parameters;
  /** True if nothing but reading was asked for. */
  readonly readsOnly: boolean;
  readonly problem: Problem | undefined;
}

/**
 * Reads the request that an application has sent a browser with.
 *
 * @throws MemoryError `invalid_argument` for a request without an address that its client has registered: it is
 * answered to the user alone, and nobody is sent anywhere.
 */
export async function readAuthorization(
  query: string,
  { clients, issuer, accountId }: { clients: Clients; issuer: string; accountId: string },
): Promise<AuthorizationRequest> {
  const parameters = parametersIn(query);
  const { client_id: id, redirect_uri: redirectUri } = parameters;
  if (id === undefined) throw invalid("client_id", "is missing");
  if (redirectUri === undefined) throw invalid("redirect_uri", "is missing");
  const client = await clients.find(id, accountId);
  if (!isRegistered(redirectUri, client.redirectUris)) {
    throw invalid("redirect_uri", "is not one that this application has registered");
  }
  const scopes = (parameters.scope ?? "").split(" ");
  const readsOnly = scopes.includes(SCOPES.read) && !scopes.includes(SCOPES.write);
  return { client, redirectUri, parameters, readsOnly, problem: problemIn(parameters, issuer) };
}

function problemIn(parameters: Parameters, issuer: string): Problem | undefined {
  const { response_type, response_mode, code_challenge, code_challenge_method, resource } = parameters;
  const wrong = (error: string, error_description: string) => ({ error, error_description });
  if (response_type === undefined) return wrong("invalid_request", "response_type is missing");
  if (response_type !== "code") return wrong("unsupported_response_type", "response_type must be code");
  if (response_mode !== undefined && response_mode !== "query") {
    return wrong("invalid_request", "response_mode must be query");
  }
  if (code_challenge === undefined) return wrong("invalid_request", "code_challenge (PKCE) is missing");
  if (code_challenge_method !== "S256") return wrong("invalid_request", "code_challenge_method must be S256");
  if (!CHALLENGE.test(code_challenge)) return wrong("invalid_request", "code_challenge is not of SHA-256");
  return targetProblem(resource, issuer);
}

/**
 * Refuses a key for another resource (RFC 8707). It must be named: an application that another server has sent here
 * would otherwise hand that server the key.
 */
export function targetProblem(resource: string | undefined, issuer: string): Problem | undefined {
  const own = resourceOf(issuer);
  if (resource !== undefined && URL.canParse(resource) && new URL(resource).href === new URL(own).href)
    return;
  const error_description = `resource must be ${own}`;
  return { error: "invalid_target", error_description };
}

/**
 * Makes the address that the browser goes back to. The application's own stays as it is, letter by letter. `iss`
 * tells which server has answered (RFC 9207).
 */
export function answerAddress(
  { redirectUri, parameters: { state } }: Pick<AuthorizationRequest, "redirectUri" | "parameters">,
  { issuer, ...answer }: { readonly issuer: string } & (Problem | { readonly code: string }),
): string {
  const values = new URLSearchParams({ ...answer, ...(state !== undefined && { state }), iss: issuer });
  return `${redirectUri}${redirectUri.includes("?") ? "&" : "?"}${values}`;
}
