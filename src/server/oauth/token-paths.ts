import { parseClient } from "../../accounts/oauth/client.js";
import { invalid } from "../../errors.js";
import type { Call } from "../call.js";
import type { Calls } from "../calls.js";
import { jsonIn, textIn } from "../rest/body.js";
import type { Asked } from "../rest/serve.js";
import type { SignUpLimit } from "../sign-up-limit.js";
import { isJson } from "../wire/content-type.js";
import { targetProblem } from "./authorization.js";
import type { Clients } from "./clients.js";
import { BODY_BYTES_MAX, type OAuthPath } from "./oauth-path.js";
import { parametersIn } from "./parameters.js";
import type { openOAuth, Refused } from "./protocol.js";
import { refuseInOAuth, sendRefusal } from "./refusals.js";

const FORM = /^application\/x-www-form-urlencoded\s*(;\s*charset="?utf-8"?\s*)?$/i;

const OTHER_GRANT = {
  error: "unsupported_grant_type",
  error_description: "grant_type must be authorization_code",
};

export interface TokenOptions {
  readonly issuer: string;
  readonly clients: Clients;
  readonly limit: SignUpLimit;
  readonly calls: Pick<Calls, "checkLoad">;
  /** Loads the protocol. */
  protocol(): Promise<Pick<ReturnType<typeof openOAuth>, "exchange">>;
}

/** Error that is answered as it is. */
class OAuthRefusedError extends Error {
  override readonly name = "OAuthRefusedError";

  constructor(readonly refused: Refused) {
    super(refused.error_description);
  }
}

const refuse: NonNullable<OAuthPath["refuse"]> = (reply, _call, thrown) =>
  thrown instanceof OAuthRefusedError ? sendRefusal(reply, thrown.refused) : refuseInOAuth(reply, thrown);

/** Makes the paths that applications ask: to register, and to exchange a code for a key. */
export function tokenPaths(options: TokenOptions): OAuthPath[] {
  return [
    {
      url: "/register",
      credential: "key",
      takes: isJson,
      refuse,
      answer: (call, asked) => register(call, asked, options),
    },
    {
      url: "/token",
      credential: "key",
      takes: (type) => FORM.test(type),
      refuse,
      answer: (call, asked) =>
        exchange(call, asked, options).catch((error) => {
          // The application's mistake, and no fault of the server.
          if (error instanceof OAuthRefusedError) call.error = invalid("body", "is refused");
          throw error;
        }),
    },
  ];
}

/** Registers a client (RFC 7591), whatever it asks for, as a public one that gets codes. */
async function register(call: Call, { request, reply }: Asked, { clients, limit, calls }: TokenOptions) {
  calls.checkLoad(call);
  limit.check(call.address);
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

async function exchange(call: Call, { request }: Asked, { issuer, calls, protocol }: TokenOptions) {
  calls.checkLoad(call);
  const form = parametersIn(await textIn(request, call, BODY_BYTES_MAX));
  if (form.grant_type !== undefined && form.grant_type !== "authorization_code") {
    throw new OAuthRefusedError({ ...OTHER_GRANT, status: 400 });
  }
  // Left out, it is the one that the code is for.
  const problem = form.resource === undefined ? undefined : targetProblem(form.resource, issuer);
  if (problem !== undefined) throw new OAuthRefusedError({ ...problem, status: 400 });
  const answer = await (await protocol()).exchange(form, request.headers.authorization);
  if ("error" in answer) throw new OAuthRefusedError(answer as Refused);
  return answer;
}
