import { parseClient } from "../../accounts/oauth/client.js";
import { jsonIn, textIn } from "../plain/body.js";
import type { Asked } from "../plain/served.js";
import { clientAddressKey } from "../port/client-address.js";
import type { Load } from "../rpc/load.js";
import type { SignUpLimit } from "../rpc/sign-up-limit.js";
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
  readonly load: Pick<Load, "admit">;
  /** Loads the protocol. */
  protocol(): Promise<Pick<ReturnType<typeof openOAuth>, "exchange">>;
}

/** Error that is answered as it is. */
class Refusing extends Error {
  constructor(readonly refused: Refused) {
    super(refused.error_description);
  }
}

const refuse: NonNullable<OAuthPath["refuse"]> = (reply, thrown, onFault) =>
  thrown instanceof Refusing ? sendRefusal(reply, thrown.refused) : refuseInOAuth(reply, thrown, onFault);

/** Makes the paths that applications ask: to register, and to exchange a code for a key. */
export function tokenPaths(options: TokenOptions): OAuthPath[] {
  return [
    { url: "/register", refuse, answer: (asked) => register(asked, options) },
    { url: "/token", type: FORM, refuse, answer: (asked) => exchange(asked, options) },
  ];
}

/** Registers a client (RFC 7591), whatever it asks for, as a public one that gets codes. */
async function register({ request, reply, context }: Asked, { clients, limit, load }: TokenOptions) {
  load.admit(undefined);
  limit.admit(context.values.get(clientAddressKey));
  const { name, redirectUris } = parseClient(
    await jsonIn({ request, values: context.values, bytesMax: BODY_BYTES_MAX }),
  );
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

async function exchange({ request, context }: Asked, { issuer, load, protocol }: TokenOptions) {
  load.admit(undefined);
  const form = parametersIn(await textIn({ request, values: context.values, bytesMax: BODY_BYTES_MAX }));
  if (form.grant_type !== undefined && form.grant_type !== "authorization_code") {
    throw new Refusing({ ...OTHER_GRANT, status: 400 });
  }
  // Left out, it is the one that the code is for.
  const problem = form.resource === undefined ? undefined : targetProblem(form.resource, issuer);
  if (problem !== undefined) throw new Refusing({ ...problem, status: 400 });
  const answer = await (await protocol()).exchange(form, request.headers.authorization);
  if ("error" in answer) throw new Refusing(answer as Refused);
  return answer;
}
