import type { FastifyInstance, FastifyRequest } from "fastify";
import { MemoryError } from "../../errors.js";
import { type PlainPath, type ServeOptions, servePath } from "../plain/served.js";
import { isFromPortal, type SessionCookies, sessionOf } from "../port/session-cookie.js";
import { type BodyRoom, bodyRoomKey } from "../rpc/body-room.js";
import { type Admitted, browserContextOf, contextOf } from "../rpc/caller.js";
import { codeOf } from "../wire/errors.js";
import { JSON_TYPE } from "../wire/plain-errors.js";
import { webHeaders } from "../wire/web-headers.js";
import { readSessionRequest, type SessionRequest } from "./session-request.js";

const PATH = "/session";

/** A session that was opened, as far as its cookie needs. */
interface Opened {
  readonly secret: string;
  readonly expiresAtMs: number;
}

export interface SessionPathsOptions extends ServeOptions {
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
}

type Answer = PlainPath["answer"];

/**
 * Serves the portal's sessions: `POST /session` opens one for the key that it comes with, `GET` tells whether
 * the browser has one, and `DELETE` ends it.
 */
export function addSessionPaths(app: FastifyInstance, options: SessionPathsOptions): void {
  const keyed = { url: PATH, contextOf: (request: FastifyRequest) => withKey(request, options) };
  const browser = { url: PATH, contextOf: withSession };
  servePath(app, { ...keyed, method: "POST", type: JSON_TYPE, answer: opening(options) }, options);
  servePath(app, { ...browser, method: "GET", answer: telling(options) }, options);
  servePath(app, { ...browser, method: "DELETE", answer: ending(options) }, options);
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

function opening({ cookies, admit, open }: SessionPathsOptions): Answer {
  return async ({ request, reply, context }) => {
    await admit(context);
    const { stay } = await readSessionRequest({ request, values: context.values });
    const { secret, expiresAtMs } = await open(context, { stay });
    const maxAgeSeconds = Math.floor((expiresAtMs - Date.now()) / 1000);
    reply.header("set-cookie", cookies.write(request.raw, { secret, ...(stay && { maxAgeSeconds }) }));
    return { expires_at: new Date(expiresAtMs).toISOString() };
  };
}

function telling({ admit, prove }: SessionPathsOptions): Answer {
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

function ending({ cookies, identify, end }: SessionPathsOptions): Answer {
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
