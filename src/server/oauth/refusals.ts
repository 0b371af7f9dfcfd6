import { Code } from "@connectrpc/connect";
import type { FastifyReply } from "fastify";
import { MemoryError } from "../../errors.js";
import type { Call } from "../call.js";
import { wireErrorOf } from "../errors.js";

/** Statuses and names of errors, in the form of OAuth (RFC 6749, 5.2, and RFC 7591, 3.2.2). */
const KNOWN: Partial<Record<Code, readonly [status: number, error: string]>> = {
  [Code.InvalidArgument]: [400, "invalid_request"],
  [Code.FailedPrecondition]: [400, "invalid_grant"],
  [Code.ResourceExhausted]: [429, "temporarily_unavailable"],
  [Code.Unavailable]: [503, "temporarily_unavailable"],
  // A body with an unknown compression.
  [Code.Unimplemented]: [501, "invalid_request"],
};

/** Names of errors that are about a field. */
const BY_FIELD: Readonly<Record<string, string>> = {
  redirect_uris: "invalid_redirect_uri",
  client_name: "invalid_client_metadata",
};

/** The application's mistake, by the name that OAuth has for it. */
export class OAuthError extends MemoryError {
  constructor(
    readonly error: string,
    description: string,
    readonly status = 400,
  ) {
    super("invalid_argument", description);
  }
}

/** Sends an error as clients of OAuth expect it. */
export function refuseInOAuth(reply: FastifyReply, call: Call, thrown: unknown): FastifyReply {
  const { code, rawMessage } = wireErrorOf(call, thrown);
  const { field = "", reason, retryAfterMs } = thrown as Partial<MemoryError>;
  let [status, error] = KNOWN[code] ?? [500, "server_error"];
  if (thrown instanceof OAuthError) ({ status, error } = thrown);
  // It would not fit later either.
  if (reason === "BODY_TOO_LARGE") [status, error] = [413, "invalid_request"];
  if (retryAfterMs !== undefined) reply.header("retry-after", Math.ceil(retryAfterMs / 1000));
  // RFC 6749 has the description in ASCII without quotes.
  const error_description = rawMessage.replace(/[^\x20-\x7e]/g, "?").replaceAll('"', "'");
  const body = { error: BY_FIELD[field] ?? error, error_description };
  return reply.code(status).type("application/json").send(body);
}
