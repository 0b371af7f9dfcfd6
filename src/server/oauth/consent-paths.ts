import type { Accounts } from "../../accounts/account.js";
import { managedBy } from "../../accounts/keys.js";
import type { Choice } from "../../accounts/oauth/granting.js";
import { placeOf } from "../../accounts/oauth/redirects.js";
import { invalid } from "../../errors.js";
import { jsonIn } from "../plain/body.js";
import type { Asked } from "../plain/served.js";
import { clientAddressKey } from "../port/client-address.js";
import { type Admitted, callerOf } from "../rpc/caller.js";
import type { SignUpLimit } from "../rpc/sign-up-limit.js";
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
  /** Finds the caller and counts the call, like the gate of the RPCs. */
  admit(context: Admitted): Promise<void>;
}

const DENIED = { error: "access_denied", error_description: "the user has denied it" };

/**
 * Makes the paths that the portal asks: what an application wants, and the user's answer. Both need the portal's
 * session, whose cookie no other site's page can use.
 */
export function consentPaths(options: ConsentOptions): OAuthPath[] {
  const asked = async ({ request, context }: Asked) => {
    await options.admit(context);
    // Before anything is looked up: a document's address is chosen by the caller.
    const { accountId } = callerOf(context);
    await managedBy(options.accounts, callerOf(context));
    const { query, ...answer } = await jsonIn({ request, values: context.values, bytesMax: BODY_BYTES_MAX });
    if (typeof query !== "string") throw invalid("query", "is not a text");
    return { answer, read: await readAuthorization(query, { ...options, accountId }) };
  };
  return [
    {
      url: "/authorize/request",
      fromPortal: true,
      answer: async (each) => described((await asked(each)).read, options),
    },
    {
      url: "/authorize/answer",
      fromPortal: true,
      answer: async (each) => {
        const { answer, read } = await asked(each);
        return { location: await locationOf(each.context, { answer, read }, options) };
      },
    },
  ];
}

/** Describes a request to the user. Without a problem it has no address to go to: the user decides first. */
function described(read: AuthorizationRequest, { issuer }: ConsentOptions) {
  const { client, redirectUri, readsOnly, problem } = read;
  const { host, isLocal } = placeOf(redirectUri);
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
async function locationOf(context: Admitted, { answer, read }: Answered, options: ConsentOptions) {
  const { issuer, limit, protocol } = options;
  const { allow, ...choices } = answer;
  if (read.problem !== undefined) return answerAddress(read, { ...read.problem, issuer });
  if (allow === false) return answerAddress(read, { ...DENIED, issuer });
  if (allow !== true) throw invalid("allow", "is neither true nor false");
  const choice = choiceIn(choices, read);
  limit.admit(context.values.get(clientAddressKey));
  const { authorize } = await protocol();
  const code = await authorize({ caller: callerOf(context), choice, request: read });
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
