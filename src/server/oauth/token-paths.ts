import { parseClient } from "../../accounts/oauth/client.js";
import type { SignUpLimit } from "../../accounts/sign-up-limit.js";
import type { Call } from "../call.js";
import type { Calls } from "../calls.js";
import { bytesIn, jsonIn } from "../rest/body.js";
import type { Asked, Endpoint } from "../rest/serve.js";
import { isJson } from "../wire/content-type.js";
import { textOf } from "../wire/json-text.js";
import { parametersIn, targetProblem } from "./authorization.js";
import type { Clients } from "./clients.js";
import type { ExchangeOptions } from "./protocol.js";
import { OAuthError, refuseInOAuth } from "./refusals.js";

const FORM = /^application\/x-www-form-urlencoded\s*(;\s*charset="?utf-8"?\s*)?$/i;

/** Maximum size of a request: addresses and a name, or a code and its verifier. */
export const BODY_BYTES_MAX = 16_384;

export interface TokenOptions extends ExchangeOptions {
  readonly issuer: string;
  readonly clients: Clients;
  /** Registrations. */
  readonly limit: SignUpLimit;
  readonly calls: Pick<Calls, "checkLoad">;
}

/** Makes the paths that applications ask: to register, and to exchange a code for a key. */
export function tokenPaths(options: TokenOptions): Omit<Endpoint, "method">[] {
  const common = { credential: "key", refuse: refuseInOAuth } as const;
  return [
    { ...common, url: "/register", takes: isJson, answer: (call, asked) => register(call, asked, options) },
    {
      ...common,
      url: "/token",
      takes: (type) => FORM.test(type),
      answer: (call, asked) => exchangeCode(call, asked, options),
    },
  ];
}

/** Registers a client (RFC 7591), whatever it asks for, as a public one that gets codes. */
async function register(call: Call, { request, reply }: Asked, { clients, limit, calls }: TokenOptions) {
  calls.checkLoad(call);
  limit.check(call.network);
  const { name, redirectUris } = parseClient(await jsonIn(request, call, BODY_BYTES_MAX));
  const client_id = await clients.issue({ name, redirectUris });
  reply.code(201);
  return {
    client_id,
    client_id_issued_at: Math.floor(Date.now() / 1000),
    ...(name !== "" && { client_name: name }),
    redirect_uris: redirectUris,
    grant_types: ["authorization_code"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
}

async function exchangeCode(call: Call, { request }: Asked, options: TokenOptions) {
  options.calls.checkLoad(call);
  const form = parametersIn(textOf(await bytesIn(request, call, BODY_BYTES_MAX)));
  if (form.grant_type !== undefined && form.grant_type !== "authorization_code") {
    throw new OAuthError("unsupported_grant_type", "grant_type must be authorization_code");
  }
  // Left out, it is the one that the code is for.
  const problem = form.resource === undefined ? undefined : targetProblem(form.resource, options.issuer);
  if (problem !== undefined) throw new OAuthError(problem.error, problem.error_description);
  // The library takes a while to load, so the first application that asks waits for it.
  const { exchange } = await import("./protocol.js");
  return exchange(form, request.headers.authorization, options);
}
