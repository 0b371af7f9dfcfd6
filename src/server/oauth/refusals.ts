import type { FastifyReply } from "fastify";
import { MemoryError } from "../../errors.js";

/** Statuses and names of errors, in the form of OAuth (RFC 6749, 5.2, and RFC 7591, 3.2.2). */
const KNOWN: Partial<Record<MemoryError["code"], readonly [status: number, error: string]>> = {
  invalid_argument: [400, "invalid_request"],
  failed_precondition: [400, "invalid_grant"],
  resource_exhausted: [429, "temporarily_unavailable"],
  unavailable: [503, "temporarily_unavailable"],
};

/** Names of errors that are about a field. */
const BY_FIELD: Readonly<Record<string, string>> = {
  redirect_uris: "invalid_redirect_uri",
  client_name: "invalid_client_metadata",
};

/** Sends an error as clients of OAuth expect it. */
export function refuseInOAuth(reply: FastifyReply, thrown: unknown): FastifyReply {
  const known = thrown instanceof MemoryError ? KNOWN[thrown.code] : undefined;
  if (!(thrown instanceof MemoryError) || known === undefined) {
    return sendRefusal(reply, { status: 500, error: "server_error", error_description: "internal error" });
  }
  const { field = "", message, retryAfterMs } = thrown;
  if (retryAfterMs !== undefined) reply.header("retry-after", Math.ceil(retryAfterMs / 1000));
  const [status, error] = known;
  return sendRefusal(reply, { status, error: BY_FIELD[field] ?? error, error_description: message });
}

export function sendRefusal(
  reply: FastifyReply,
  { status, ...body }: { status: number; error: string; error_description: string },
): FastifyReply {
  // RFC 6749 has the description in ASCII without quotes.
  const error_description = body.error_description.replace(/[^\x20-\x7e]/g, "?").replaceAll('"', "'");
  return reply
    .code(status)
    .type("application/json")
    .send({ ...body, error_description });
}
