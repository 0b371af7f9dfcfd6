import type { FastifyInstance } from "fastify";
import type { Accounts } from "../../accounts/account.js";
import { getAccount } from "../../accounts/authenticate.js";
import { endSession, openSession } from "../../accounts/sessions.js";
import { invalid, MemoryError, safeName } from "../../errors.js";
import { readObject } from "../body.js";
import type { Calls } from "../calls.js";
import { isFromPortal, type SessionCookies } from "../listen/session-cookie.js";
import { type Endpoint, serve } from "../serve.js";

const PATH = "/session";
const BODY_BYTES_MAX = 1_024;

/**
 * Serves the portal's sessions: `POST /session` opens one for the key that it comes with, `GET` tells whether
 * the browser has one, and `DELETE` ends it.
 */
export function addSessions(
  app: FastifyInstance,
  { calls, accounts, cookies }: { calls: Calls; accounts: Accounts; cookies: SessionCookies },
): void {
  const add = (path: Omit<Endpoint, "url">) => serve(app, { url: PATH, ...path }, calls);
  add({
    method: "POST",
    // It needs a key: no session opens another.
    credential: "key",
    takes: ["application/json"],
    answer: async (call, reply) => {
      await calls.begin(call);
      const { stay = false, ...others } = await readObject(call, BODY_BYTES_MAX);
      const [other] = Object.keys(others);
      if (other !== undefined)
        throw invalid(safeName(other), "is not a field of this request; there is stay");
      if (typeof stay !== "boolean") throw invalid("stay", "is neither true nor false");
      const { secret, session } = await openSession(accounts, { caller: call.caller, stay });
      const maxAgeSeconds = Math.floor((session.expiresAtMs - Date.now()) / 1000);
      reply.header(
        "set-cookie",
        cookies.write(reply.request.raw, { secret, ...(stay && { maxAgeSeconds }) }),
      );
      return { expires_at: new Date(session.expiresAtMs).toISOString() };
    },
  });
  add({
    method: "GET",
    credential: "session",
    answer: async (call) => {
      // A browser without a session is told so in a good answer: nothing is wrong.
      if (call.request.portalSession === undefined) return { signed_in: false };
      const living = await unlessUnknown(async () => {
        await calls.begin(call);
        await getAccount(accounts, call.caller);
      });
      return { signed_in: living };
    },
  });
  add({
    method: "DELETE",
    credential: "session",
    answer: async (call, reply) => {
      if (!isFromPortal(call.headers)) {
        throw new MemoryError("unauthenticated", "only the portal may end its session");
      }
      // The browser forgets it, whatever becomes of the rest.
      reply.header("set-cookie", cookies.clear(reply.request.raw));
      if (call.request.portalSession === undefined) return {};
      await unlessUnknown(async () => {
        // Nobody is too busy to sign out.
        await calls.authenticate(call);
        await endSession(accounts, call.caller);
      });
      return {};
    },
  });
}

/** Does something for a session; returns false if there is no such session. */
async function unlessUnknown(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof MemoryError && error.code === "unauthenticated") return false;
    throw error;
  }
}
