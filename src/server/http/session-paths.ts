import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { MemoryError } from "../../errors.js";
import { isFromPortal, type SessionCookies, sessionOf } from "../port/session-cookie.js";
import { type BodyRoom, bodyRoomKey } from "../rpc/body-room.js";
import { type Admitted, browserContextOf, callerKey, contextOf } from "../rpc/caller.js";
import type { Call } from "../rpc/observe.js";
import { codeOf } from "../wire/errors.js";
import { JSON_TYPE, passOn, sendError, sendThrown, unsupported } from "../wire/plain-errors.js";
import { webHeaders } from "../wire/web-headers.js";
import { readSessionRequest, type SessionRequest } from "./session-request.js";

const PATH = "/session";

/** A session that was opened, as far as its cookie needs. */
interface Opened {
  readonly secret: string;
  readonly expiresAtMs: number;
}

export interface SessionPathsOptions {
  readonly cookies: SessionCookies;
  readonly bodyRoom: BodyRoom;
  /** Finds the caller and counts the call, like the gate of the RPCs. */
  admit(context: Admitted): Promise<void>;
  /** Finds the caller. Nobody is too busy to sign out. */
  identify(context: Admitted): Promise<unknown>;
  open(context: Admitted, of: SessionRequest): Promise<Opened>;
  /** Proves that the caller's session lives. @throws MemoryError `unauthenticated`. */
  prove(context: Admitted): Promise<void>;
  end(context: Admitted): Promise<void>;
  onFault(error: unknown, requestId: string): void;
  onEnd(call: Call): void;
}

interface Asked {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly context: Admitted;
}

type Path = (asked: Asked) => Promise<object>;

/**
 * Serves the portal's sessions: `POST /session` opens one for the key that it comes with, `GET` tells whether
 * the browser has one, and `DELETE` ends it.
 */
export function addSessionPaths(app: FastifyInstance, options: SessionPathsOptions): void {
  const route = (method: string, path: Path, contextOf: (request: FastifyRequest) => Admitted) =>
    app.route({
      method,
      url: PATH,
      handler: async (request, reply) => {
        const type = request.headers["content-type"] ?? "none";
        if (method === "POST" && !JSON_TYPE.test(type)) return sendError(reply, 415, unsupported(type));
        return serve(path, { request, reply, context: contextOf(request) }, options);
      },
    });
  route("POST", opening(options), (request) => withKey(request, options));
  route("GET", telling(options), withSession);
  route("DELETE", ending(options), withSession);
}

/** Makes the context of a call that needs a key: no session opens another. */
function withKey({ raw, headers }: FastifyRequest, { bodyRoom }: SessionPathsOptions): Admitted {
  const requestHeader = webHeaders(headers);
  const values = contextOf(raw).set(bodyRoomKey, bodyRoom);
  return { requestHeader, responseHeader: new Headers(), values };
}

/** Makes the context of a call about the browser's session, whatever else the request has. */
function withSession({ raw }: FastifyRequest): Admitted {
  return { requestHeader: new Headers(), responseHeader: new Headers(), values: browserContextOf(raw) };
}

/** Answers a request, and reports it as a call. */
async function serve(path: Path, asked: Asked, options: SessionPathsOptions): Promise<FastifyReply> {
  const { request, reply, context } = asked;
  const startMs = performance.now();
  let code = "ok";
  try {
    const answer = await path(asked);
    passOn(context.responseHeader, reply);
    return reply.send(answer);
  } catch (error) {
    code = codeOf(error);
    passOn(context.responseHeader, reply);
    return sendThrown(reply, error, (fault) => options.onFault(fault, request.id));
  } finally {
    const call = { method: `${request.method} ${PATH}`, protocol: "json" as const, code };
    const accountId = context.values.get(callerKey)?.accountId;
    const ms = performance.now() - startMs;
    options.onEnd({ ...call, ms, requestId: request.id, traceId: undefined, accountId });
  }
}

function opening({ cookies, admit, open }: SessionPathsOptions): Path {
  return async ({ request, reply, context }) => {
    await admit(context);
    const { stay } = await readSessionRequest(request, context.values);
    const { secret, expiresAtMs } = await open(context, { stay });
    const maxAgeSeconds = Math.floor((expiresAtMs - Date.now()) / 1000);
    reply.header("set-cookie", cookies.write(request.raw, { secret, ...(stay && { maxAgeSeconds }) }));
    return { expires_at: new Date(expiresAtMs).toISOString() };
  };
}

function telling({ admit, prove }: SessionPathsOptions): Path {
  return async ({ request, context }) => {
    // A browser without a session is told so in a good answer: nothing is wrong.
    if (sessionOf(request.raw) === undefined) return { signed_in: false };
    const living = await unlessUnknown(async () => {
      await admit(context);
      await prove(context);
    });
    return { signed_in: living };
  };
}

function ending({ cookies, identify, end }: SessionPathsOptions): Path {
  return async ({ request, reply, context }) => {
    if (!isFromPortal(request.headers)) {
      throw new MemoryError("unauthenticated", "only the portal may end its session");
    }
    // The browser forgets it, whatever becomes of the rest.
    reply.header("set-cookie", cookies.clear(request.raw));
    if (sessionOf(request.raw) === undefined) return {};
    await unlessUnknown(async () => {
      await identify(context);
      await end(context);
    });
    return {};
  };
}

/** Does something for a session; returns false if there is no such session. */
async function unlessUnknown(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (codeOf(error) === "unauthenticated") return false;
    throw error;
  }
}
