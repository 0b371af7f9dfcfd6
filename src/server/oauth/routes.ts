import type { FastifyInstance } from "fastify";
import { managedBy } from "../../accounts/keys.js";
import { destinationOf, parseClient } from "../../accounts/oauth/client.js";
import { type Choice, consent, type GrantingOptions } from "../../accounts/oauth/granting.js";
import { limitSignUps, type SignUpLimits } from "../../accounts/sign-up.js";
import { invalid } from "../../errors.js";
import { readBody, readObject } from "../body.js";
import type { Call } from "../call.js";
import type { Calls } from "../calls.js";
import { textOf } from "../json-text.js";
import { type Endpoint, serve } from "../serve.js";
import {
  type AuthorizationRequest,
  answerAddress,
  parametersIn,
  readAuthorization,
  targetProblem,
} from "./authorization.js";
import type { Clients } from "./clients.js";
import { resourceMetadata, serverMetadata, WELL_KNOWN } from "./metadata.js";
import { OAuthError, refuseInOAuth } from "./refusals.js";

/** Maximum size of a request: addresses and a name, or a code and its verifier. */
const BODY_BYTES_MAX = 16_384;
const JSON_TYPE = ["application/json"];
const FORM = ["application/x-www-form-urlencoded"];
const DENIED = { error: "access_denied", error_description: "the user has denied it" };

export interface OAuthOptions {
  readonly calls: Calls;
  /** The server's public origin, which is its name. */
  readonly issuer: string;
  readonly granting: GrantingOptions;
  readonly clients: Clients;
  /** Registrations, and consents, of one client address an hour. */
  readonly limits: SignUpLimits;
}

/** Serves OAuth 2.1, by which applications get keys of users who consent. */
export function addOAuth(app: FastifyInstance, options: OAuthOptions): void {
  const { issuer, limits, calls, clients, granting } = options;
  for (const url of WELL_KNOWN.resource) app.get(url, async () => resourceMetadata(issuer));
  app.get(WELL_KNOWN.server, async () => serverMetadata(issuer));
  const checkRegistration = limitSignUps(limits, { what: "registrations" });
  const checkConsent = limitSignUps(limits, { what: "consents" });
  const add = (path: Omit<Endpoint, "method">) => serve(app, { ...path, method: "POST" }, calls);
  const readRequest = async (call: Call) => {
    await calls.begin(call);
    // Before anything is looked up: a document's address is chosen by the caller.
    await managedBy(granting.accounts, call.caller);
    const { query, ...answer } = await readObject(call, BODY_BYTES_MAX);
    if (typeof query !== "string") throw invalid("query", "is not a text");
    const { accountId } = call.caller;
    return { answer, read: await readAuthorization(query, { clients, issuer, accountId }) };
  };
  // The portal asks what an application wants, and sends the user's answer. Both need the portal's session, whose
  // cookie no other site's page can use.
  const inPortal = { credential: "session", takes: JSON_TYPE } as const;
  add({
    ...inPortal,
    url: "/authorize/request",
    answer: async (call) => described((await readRequest(call)).read, issuer),
  });
  add({
    ...inPortal,
    url: "/authorize/answer",
    answer: async (call) => {
      const { answer, read } = await readRequest(call);
      /** The address that the browser goes back to. */
      const back = (how: Parameters<typeof answerAddress>[1]) => ({ location: answerAddress(read, how) });
      const { allow, ...choices } = answer;
      if (read.problem !== undefined) return back({ ...read.problem, issuer });
      if (allow === false) return back({ ...DENIED, issuer });
      if (allow !== true) throw invalid("allow", "is neither true nor false");
      const choice = choiceIn(choices, read);
      checkConsent(call.network);
      const { client, redirectUri, parameters } = read;
      const { code_challenge: challenge = "", resource = "" } = parameters;
      const consented = { caller: call.caller, choice, client, redirectUri, challenge, resource };
      return back({ code: await consent(granting, consented), issuer });
    },
  });
  // Applications register, and exchange a code for a key, without any.
  add({
    refuse: refuseInOAuth,
    url: "/register",
    takes: JSON_TYPE,
    // Whatever a client asks for, it is a public one that gets codes (RFC 7591).
    answer: async (call, reply) => {
      calls.checkLoad();
      checkRegistration(call.network);
      const { name, redirectUris } = parseClient(await readObject(call, BODY_BYTES_MAX));
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
    },
  });
  add({
    refuse: refuseInOAuth,
    url: "/token",
    takes: FORM,
    answer: async (call) => {
      calls.checkLoad();
      const form = parametersIn(textOf(await readBody(call, BODY_BYTES_MAX)));
      if (form.grant_type !== undefined && form.grant_type !== "authorization_code") {
        throw new OAuthError("unsupported_grant_type", "grant_type must be authorization_code");
      }
      // Left out, it is the one that the code is for.
      const problem = form.resource === undefined ? undefined : targetProblem(form.resource, issuer);
      if (problem !== undefined) throw new OAuthError(problem.error, problem.error_description);
      // The library takes a while to load, so the first application that asks waits for it.
      const { exchange } = await import("./protocol.js");
      return exchange(form, call.headers.authorization, options);
    },
  });
}

/** Describes a request to the user. Without a problem it has no address to go to: the user decides first. */
function described(read: AuthorizationRequest, issuer: string) {
  const { client, redirectUri, readsOnly, problem } = read;
  const { host, isLocal } = destinationOf(redirectUri);
  return {
    client: { name: client.name, host: client.host ?? "" },
    redirect: { host, is_local: isLocal },
    reads_only: readsOnly,
    ...(problem && { problem, location: answerAddress(read, { ...problem, issuer }) }),
  };
}

function choiceIn(choices: Readonly<Record<string, unknown>>, { readsOnly }: AuthorizationRequest): Choice {
  const { access, namespace, days, ...others } = choices;
  const [other] = Object.keys(others);
  if (other !== undefined) throw invalid("body", "has a field that is not read");
  if (access !== "full" && access !== "read_only") throw invalid("access", "is neither full nor read_only");
  if (readsOnly && access === "full") throw invalid("access", "is more than the application has asked for");
  if (typeof namespace !== "string") throw invalid("namespace", "is not a text");
  if (typeof days !== "number") throw invalid("days", "is not a number");
  return { access, namespace, days };
}
