import type { Accounts } from "../../accounts/account.js";
import { managedBy } from "../../accounts/keys.js";
import { destinationOf } from "../../accounts/oauth/client.js";
import type { Choice } from "../../accounts/oauth/granting.js";
import { invalid } from "../../errors.js";
import type { Call } from "../call.js";
import type { Calls } from "../calls.js";
import { jsonIn } from "../rest/body.js";
import type { Asked } from "../rest/serve.js";
import type { SignUpLimit } from "../sign-up-limit.js";
import { isJson } from "../wire/content-type.js";
import { type AuthorizationRequest, answerAddress, readAuthorization } from "./authorization.js";
import type { Clients } from "./clients.js";
import { BODY_BYTES_MAX, type OAuthPath } from "./oauth-path.js";
import type { openOAuth } from "./protocol.js";

export interface ConsentOptions {
  readonly issuer: string;
  readonly clients: Clients;
  readonly accounts: Accounts;
  readonly limit: SignUpLimit;
  /** Loads the protocol. */
  protocol(): Promise<Pick<ReturnType<typeof openOAuth>, "authorize">>;
  readonly calls: Calls;
}

const DENIED = { error: "access_denied", error_description: "the user has denied it" };

/**
 * Makes the paths that the portal asks: what an application wants, and the user's answer. Both need the portal's
 * session, whose cookie no other site's page can use.
 */
export function consentPaths(options: ConsentOptions): OAuthPath[] {
  const asked = async (call: Call, { request }: Asked) => {
    await options.calls.begin(call);
    // Before anything is looked up: a document's address is chosen by the caller.
    await managedBy(options.accounts, call.caller);
    const { query, ...answer } = await jsonIn(request, call, BODY_BYTES_MAX);
    if (typeof query !== "string") throw invalid("query", "is not a text");
    return { answer, read: await readAuthorization(query, { ...options, accountId: call.caller.accountId }) };
  };
  return [
    {
      url: "/authorize/request",
      credential: "session",
      takes: isJson,
      answer: async (call, each) => described((await asked(call, each)).read, options),
    },
    {
      url: "/authorize/answer",
      credential: "session",
      takes: isJson,
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
  const { issuer, limit, protocol } = options;
  const { allow, ...choices } = answer;
  if (read.problem !== undefined) return answerAddress(read, { ...read.problem, issuer });
  if (allow === false) return answerAddress(read, { ...DENIED, issuer });
  if (allow !== true) throw invalid("allow", "is neither true nor false");
  const choice = choiceIn(choices, read);
  limit.check(call.address);
  const { authorize } = await protocol();
  const code = await authorize({ caller: call.caller, choice, request: read });
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
