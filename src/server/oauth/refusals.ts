import type { FastifyReply } from "fastify";
import { MemoryError } from "../../errors.js";
import type { Call } from "../call.js";

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
export function refuseInOAuth(reply: FastifyReply, _call: Call, thrown: unknown): FastifyReply {
  const { status, error, description } = refusalOf(thrown);
  if (thrown instanceof MemoryError && thrown.retryAfterMs !== undefined) {
    reply.header("retry-after", Math.ceil(thrown.retryAfterMs / 1000));
  }
  // RFC 6749 has the description in ASCII without quotes.
  const error_description = description.replace(/[^\x20-\x7e]/g, "?").replaceAll('"', "'");
  return reply.code(status).type("application/json").send({ error, error_description });
}

function refusalOf(thrown: unknown): { status: number; error: string; description: string } {
  if (thrown instanceof OAuthError) return { ...thrown, description: thrown.message };
  const known = thrown instanceof MemoryError ? KNOWN[thrown.code] : undefined;
  if (known === undefined) return { status: 500, error: "server_error", description: "internal error" };
  const { field = "", message: description } = thrown as MemoryError;
  const [status, error] = known;
  return { status, error: BY_FIELD[field] ?? error, description };
}
