import { cors } from "@connectrpc/connect";
import type { FastifyReply, FastifyRequest } from "fastify";

/** Time for which a browser may remember what it was allowed, the longest that Chromium takes. */
const PREFLIGHT_SECONDS = 7200;

const METHODS = [...new Set([...cors.allowedMethods, "DELETE", "PATCH"])].join(", ");
const REQUEST_HEADERS = [
  ...cors.allowedHeaders,
  ...["Authorization", "X-API-Key", "X-Request-ID", "Idempotency-Key", "Recalld-Namespace", "Last-Event-ID"],
  ...["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"],
].join(", ");
const ANSWER_HEADERS = [
  ...cors.exposedHeaders,
  ...[
    "X-Request-ID",
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "WWW-Authenticate",
    "Idempotent-Replayed",
  ],
].join(", ");

/**
 * Lets pages of the given origins call from a browser; `*` is all. Without any, no header is sent, and
 * browsers let no other page call. Credentials, as CORS means them, are never allowed: a key travels in a
 * header that the page sets.
 *
 * @returns a function that answers preflights; true if it did.
 */
export function allowOrigins(
  origins: readonly string[],
): (request: FastifyRequest, reply: FastifyReply) => boolean {
  const all = origins.includes("*");
  return ({ method, headers }, reply) => {
    if (origins.length === 0) return false;
    // The answer depends on the origin: caches must know, even where the answer is no.
    if (!all) reply.header("vary", "Origin");
    const { origin } = headers;
    if (origin === undefined || !(all || origins.includes(origin))) return false;
    reply.header("access-control-allow-origin", all ? "*" : origin);
    if (method !== "OPTIONS" || headers["access-control-request-method"] === undefined) {
      reply.header("access-control-expose-headers", ANSWER_HEADERS);
      return false;
    }
    reply.headers({
      "access-control-allow-methods": METHODS,
      "access-control-allow-headers": REQUEST_HEADERS,
      "access-control-max-age": PREFLIGHT_SECONDS,
    });
    reply.code(204).send();
    return true;
  };
}
