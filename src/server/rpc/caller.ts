import {
  type ContextValues,
  createContextKey,
  createContextValues,
  type HandlerContext,
} from "@connectrpc/connect";
import type { Authenticate, Credential, Principal } from "../../accounts/authenticate.js";
import type { KeyLimits } from "../../accounts/key-limits.js";
import type { Plans } from "../../accounts/plan.js";
import type { Caller } from "../../memory/ports/quota.js";
import { addressOf, clientAddressKey, networkOf } from "../port/client-address.js";
import { whenTaken } from "../port/open-requests.js";
import { sessionOf } from "../port/session-cookie.js";
import { setRateLimitHeaders } from "./rate-limit-headers.js";

/** Caller of an RPC; set by the gate, read by the handlers and the log line. */
export const callerKey = createContextKey<Principal | undefined>(undefined, { description: "caller" });

/** Resolves when the answer was taken, or no client waits for it any more; set for every RPC. */
export const takenKey = createContextKey(Promise.resolve(), { description: "answer taken" });

/** Secret of the browser's session; set only where a session may stand for a key. */
const sessionKey = createContextKey<string | undefined>(undefined, { description: "session" });

/** Creates the context values of a call that the portal may make, whose session then stands for a key. */
export function browserContextOf(request: object): ContextValues {
  return contextOf(request).set(sessionKey, sessionOf(request));
}

/** Creates the context values of a call, which needs a key. */
export function contextOf(request: object): ContextValues {
  const values = createContextValues().set(clientAddressKey, addressOf(request));
  const taken = whenTaken(request);
  return taken === undefined ? values : values.set(takenKey, taken);
}

/** Returns the caller of a call after the gate. */
export function callerOf({ values }: Pick<HandlerContext, "values">): Caller {
  const caller = values.get(callerKey);
  if (caller === undefined) throw new Error("a call is served without the gate");
  return caller;
}

export interface GateOptions {
  readonly authenticate: Authenticate;
  readonly plans: Plans;
  readonly keyLimits: KeyLimits;
  /** RPCs that need no key, as `service/method`, or `service/` for all of a service. */
  readonly open: readonly string[];
}

/**
 * Builds the gate, which runs before the body is read. It finds the caller, and refuses unknown keys, networks that
 * show too many of them, and keys that call too often.
 */
export function gate({ open, ...options }: GateOptions): (context: HandlerContext) => Promise<void> {
  return async (context) => {
    endCheaply(context);
    // The portal speaks Connect and plain HTTP; a browser's session is for no other protocol.
    if (context.protocolName !== "connect") context.values.delete(sessionKey);
    const name = `${context.service.typeName}/${context.method.name}`;
    if (!open.some((prefix) => name.startsWith(prefix))) await admit(context, options);
  };
}

/** Reason of the signal of a call that has ended. */
const ENDED = new DOMException("the call has ended", "AbortError");

/**
 * Lets Connect end the call's signal with a reason that exists. It aborts the signal of each call after its
 * end, without a reason, and Node then makes an exception with a stack for each.
 */
function endCheaply(context: HandlerContext): void {
  const ending = context as HandlerContext & { abort?(reason?: unknown): void };
  const { abort } = ending;
  if (abort !== undefined) ending.abort = (reason: unknown = ENDED) => abort(reason);
}

/** Parts of a call that the gate reads and writes. */
export type Admitted = Pick<HandlerContext, "requestHeader" | "responseHeader" | "values">;

/** Finds the caller. @throws MemoryError `unauthenticated`, or `resource_exhausted`. */
export async function identify(
  context: Admitted,
  { authenticate }: Pick<GateOptions, "authenticate">,
): Promise<Principal> {
  const address = networkOf(context.values.get(clientAddressKey));
  // A copy, because what a call uses is counted by its caller.
  const caller = { ...(await authenticate(credentialOf(context), address)) };
  context.values.set(callerKey, caller);
  return caller;
}

/** Finds the caller, and counts the call. @throws MemoryError `unauthenticated`, or `resource_exhausted`. */
export async function admit(
  context: Admitted,
  { authenticate, plans, keyLimits }: Omit<GateOptions, "open">,
): Promise<void> {
  const caller = await identify(context, { authenticate });
  const { standing, refusal, end } = keyLimits.admit(caller.keyHash, plans.get(caller.plan));
  setRateLimitHeaders(context.responseHeader, standing);
  if (refusal !== undefined) throw refusal;
  // An unread answer is held in memory: until it is taken, the call counts as running.
  void context.values.get(takenKey).then(end);
}

/** Returns what tells who calls. A key wins over a session, also one that is wrong. */
function credentialOf({ requestHeader, values }: Admitted): Credential | undefined {
  if (requestHeader.has("authorization") || requestHeader.has("x-api-key")) return keyIn(requestHeader);
  const session = values.get(sessionKey);
  return session === undefined ? undefined : { session };
}

/** Reads the key of `Authorization: Bearer KEY` or `X-API-Key: KEY`; the former wins. */
function keyIn(header: Headers): Credential | undefined {
  const authorization = header.get("authorization");
  const key = authorization === null ? header.get("x-api-key") : /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  return key == null ? undefined : { key };
}
