import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from "fastify";
import { failedPrecondition } from "../../errors.js";
import type { Call } from "../call.js";
import { normalizeHeaders } from "../content-type.js";
import { answerUnreadable, answerUnroutable, NO_STORE, refuseMethod, sendError } from "../errors.js";
import type { TrustedProxies } from "./client-address.js";
import { allowOrigins } from "./cors.js";
import { hasCredential, KeylessRequests } from "./keyless.js";
import { OnePortServer } from "./one-port.js";
import { ONE_PORT_LIMITS } from "./one-port-limits.js";
import type { Readiness } from "./readiness.js";
import type { SessionCookies } from "./session-cookie.js";
import type { Tls } from "./tls.js";
import { shapeFastifyErrors } from "./unserved.js";

/** Makes browsers that came once over HTTPS not come over HTTP for a year. */
const HSTS = "max-age=31536000";

/**
 * Pattern of a caller's own request id that is taken over. It must not look like a key, a session's secret or a code,
 * because it is logged.
 */
const REQUEST_ID = /^(?!.*rc[lso]_)[A-Za-z0-9._:-]{1,128}$/;

export interface HttpServerOptions {
  readonly readiness: Readiness;
  readonly logger: FastifyBaseLogger;
  readonly proxies: TrustedProxies;
  readonly connectionsMax: number;
  readonly connectionsPerAddressMax: number;
  readonly corsOrigins: readonly string[];
  readonly cookies: Pick<SessionCookies, "take">;
  /** Certificate and key; with them the server speaks HTTPS. */
  readonly tls: Tls | undefined;
}

/**
 * Begins to listen and returns the address. @throws MemoryError `failed_precondition`, naming the setting.
 */
export async function listen(
  app: FastifyInstance,
  { host, port, tls, setting = "PORT" }: { host: string; port: number; tls?: unknown; setting?: string },
): Promise<string> {
  try {
    const address = await app.listen({ host, port });
    // Fastify did not make the server, and so does not know of its TLS.
    return tls === undefined ? address : address.replace(/^http:/, "https:");
  } catch (error) {
    const { code, message, syscall } = error as NodeJS.ErrnoException;
    // Not an error of the system.
    if (syscall === undefined) throw error;
    const why = code === "EADDRINUSE" ? "is in use" : `cannot be used: ${message}`;
    throw failedPrecondition(`${setting} ${port} on ${host} ${why}`);
  }
}

function noSchema(): never {
  throw new Error("no route has a schema");
}

/** Creates a server without routes, with all that holds for every request. */
export function httpServer(options: HttpServerOptions): FastifyInstance {
  const { logger, readiness, tls } = options;
  const keyless = new KeylessRequests();
  const app = Fastify({
    loggerInstance: logger,
    // One line a call, written when it ends, in place of Fastify's two; a logger for each request costs 2 % of a recall.
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (whole) => whole,
    serverFactory: (handler) =>
      new OnePortServer(handler, {
        tls,
        proxies: options.proxies,
        refuse: (request, response) =>
          (!hasCredential(request) && keyless.refuses(request, response)) || refuseMethod(request, response),
        connectionsMax: options.connectionsMax,
        connectionsPerAddressMax: options.connectionsPerAddressMax,
      }),
    genReqId: (request) => requestId(request.headers["x-request-id"]),
    exposeHeadRoutes: false,
    // No route has a schema: what compiles them takes an eighth of the start to load.
    schemaController: { compilersFactory: { buildValidator: noSchema, buildSerializer: noSchema } },
    rewriteUrl: ({ url = "/" }) => withoutSlash(url),
    // Room for a namespace of 256 bytes, percent-encoded.
    routerOptions: { maxParamLength: 768 },
    frameworkErrors: answerUnroutable,
    clientErrorHandler: (error, socket) => {
      if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") (app.server as OnePortServer).counts.cutOff.request += 1;
      answerUnreadable(error, socket);
    },
    // Requests that come while running calls finish are served like them: readiness keeps new callers away.
    return503OnClosing: false,
  });
  const isPreflight = allowOrigins(options.corsOrigins);
  app.addHook("onRequest", async (request, reply) => {
    request.raw.headers["x-request-id"] = request.id;
    const bringsCredential = hasCredential(request.raw);
    options.cookies.take(request.raw);
    // A key that nobody looks at pays for nothing.
    if (bringsCredential && isOpen(request) && keyless.refuses(request.raw, reply.raw)) {
      reply.hijack();
      return reply;
    }
    reply.headers({
      "x-request-id": request.id,
      "x-content-type-options": "nosniff",
      "cache-control": NO_STORE,
    });
    if (tls !== undefined) reply.header("strict-transport-security", HSTS);
    // A client that keeps its connection would come again; HTTP/2 has GOAWAY for this, once the notice is
    // over.
    if (readiness.withdrawn && request.raw.httpVersionMajor === 1) reply.raw.setHeader("connection", "close");
    const refusal = refusalOf(request.raw);
    if (refusal !== undefined) return sendError(reply, ...refusal);
    normalizeHeaders(request.raw.headers);
    const { headerLinesMax } = ONE_PORT_LIMITS;
    // Node would leave out those over its own bound, and one might be the key.
    if (request.raw.rawHeaders.length > 2 * headerLinesMax)
      return sendError(reply, 431, `the request has more than ${headerLinesMax} headers`);
    return isPreflight(request, reply) ? reply : undefined;
  });
  shapeFastifyErrors(app);
  // No body is read before its handler asks for it, and the handlers judge its type.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  return app;
}

/** True if a request is served without looking at its key. */
function isOpen({ raw, routeOptions: { config } }: FastifyRequest): boolean {
  return config.credential === "session" ? raw.portalSession === undefined : config.credential === undefined;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Which of a request's credentials the route looks at; absent if at none. */
    credential?: Call["credential"];
  }
}

/** Refuses what HTTP/1.1 forbids (RFC 9112, 3.2) and expectations that this server cannot meet. */
function refusalOf({ headers, rawHeaders, httpVersion }: IncomingMessage): [number, string] | undefined {
  if (httpVersion === "1.1" && hostsIn(rawHeaders) !== 1) {
    return [400, "the request must have one Host header"];
  }
  const expected = headers.expect;
  if (expected === undefined || /^100-continue$/i.test(expected)) return undefined;
  return [417, "of Expect only 100-continue is served here"];
}

/** Number of Host headers among names and values in turn. */
function hostsIn(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts += 1;
  }
  return hosts;
}

/** Drops the slash at the end of a path, which many clients add; the guides are relative to theirs. */
function withoutSlash(url: string): string {
  const query = url.indexOf("?");
  const end = query === -1 ? url.length : query;
  if (end < 2 || url[end - 1] !== "/" || url.startsWith("/docs/")) return url;
  return url.slice(0, end - 1) + url.slice(end);
}

function requestId(given: string | string[] | undefined): string {
  return typeof given === "string" && REQUEST_ID.test(given) ? given : randomUUID();
}
