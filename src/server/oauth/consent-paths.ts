import { managedBy } from "../../accounts/keys.js";
import { type Choice, consent, type GrantingOptions } from "../../accounts/oauth/granting.js";
import { destinationOf } from "../../accounts/oauth/redirects.js";
import type { SignUpLimit } from "../../accounts/sign-up-limit.js";
import { invalid } from "../../errors.js";
import type { Call } from "../call.js";
import type { Calls } from "../calls.js";
import { jsonIn } from "../rest/body.js";
import type { Asked, Endpoint } from "../rest/serve.js";
import { isJson } from "../wire/content-type.js";
import { type AuthorizationRequest, answerAddress, readAuthorization } from "./authorization.js";
import type { Clients } from "./clients.js";
import { BODY_BYTES_MAX } from "./token-paths.js";

export interface ConsentOptions {
  readonly issuer: string;
  readonly clients: Clients;
  readonly granting: GrantingOptions;
  /** Consents. */
  readonly limit: SignUpLimit;
  readonly calls: Calls;
}

const DENIED = { error: "access_denied", error_description: "the user has denied it" };

/**
 * Makes the paths that the portal asks: what an application wants, and the user's answer. Both need the portal's
 * session, whose cookie no other site's page can use.
 */
export function consentPaths(options: ConsentOptions): Omit<Endpoint, "method">[] {
  const asked = async (call: Call, { request }: Asked) => {
    await options.calls.begin(call);
    // Before anything is looked up: a document's address is chosen by the caller.
    await managedBy(options.granting.accounts, call.caller);
    const { query, ...answer } = await jsonIn(request, call, BODY_BYTES_MAX);
    if (typeof query !== "string") throw invalid("query", "is not a text");
    return { answer, read: await readAuthorization(query, { ...options, accountId: call.caller.accountId }) };
  };
  const common = { credential: "session", takes: isJson } as const;
  return [
    {
      ...common,
      url: "/authorize/request",
      answer: async (call, each) => described((await asked(call, each)).read, options),
    },
    {
      ...common,
      url: "/authorize/answer",
      answer: async (call, each) => {
        const { answer, read } = await asked(call, each);
        return { location: await locationOf(call, { answer, read }, options) };
      },
    },
  ];
}

/** Describes a request to the user. Without a problem it has no address to go to: the user decides first. */
function described(read: AuthorizationRequest, { issuer }: ConsentOptions) {
  const { client, redirectUri, readsOnly, problem } = read;
  const { host, isLocal } = destinationOf(redirectUri);
  return {
    client: { name: client.name, host: client.host ?? "" },
    redirect: { host, is_local: isLocal },
    reads_only: readsOnly,
    ...(problem && { problem, location: answerAddress(read, { ...problem, issuer }) }),
  };
}

interface Answered {
  readonly answer: Readonly<Record<string, unknown>>;
  readonly read: AuthorizationRequest;
}

/** Returns the address that the browser goes back to. */
async function locationOf(call: Call, { answer, read }: Answered, options: ConsentOptions) {
  const { issuer, limit, granting } = options;
  const { allow, ...choices } = answer;
  if (read.problem !== undefined) return answerAddress(read, { ...read.problem, issuer });
  if (allow === false) return answerAddress(read, { ...DENIED, issuer });
  if (allow !== true) throw invalid("allow", "is neither true nor false");
  const choice = choiceIn(choices, read);
  limit.check(call.network);
  const { client, redirectUri, parameters } = read;
  const { code_challenge: challenge = "", resource = "" } = parameters;
  const code = await consent(granting, {
    caller: call.caller,
    choice,
    client,
    redirectUri,
    challenge,
    resource,
  });
  return answerAddress(read, { code, issuer });
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
