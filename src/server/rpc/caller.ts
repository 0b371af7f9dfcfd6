import {
  type ContextValues,
  createContextKey,
  createContextValues,
  type HandlerContext,
} from "@connectrpc/connect";
import type { Principal } from "../../accounts/authenticate.js";
import type { KeyLimits } from "../../accounts/key-limits.js";
import type { Plans } from "../../accounts/plan.js";
import type { Caller } from "../../memory/ports/quota.js";
import { whenTaken } from "../port/slow-readers.js";
import { setRateLimitHeaders } from "./rate-limit-headers.js";

/** Caller of an RPC; set by the gate, read by the handlers and the log line. */
export const callerKey = createContextKey<Caller | undefined>(undefined, { description: "caller" });

/** Resolves when the answer was taken, or no client waits for it any more; set for every RPC. */
export const takenKey = createContextKey(Promise.resolve(), { description: "answer taken" });

/** Creates the context values of a call. */
export function contextOf(request: object): ContextValues {
  const values = createContextValues();
  const taken = whenTaken(request);
  return taken === undefined ? values : values.set(takenKey, taken);
}

/** Returns the caller of an RPC after the gate. */
export function callerOf(context: HandlerContext): Caller {
  const caller = context.values.get(callerKey);
  if (caller === undefined) throw new Error(`${context.method.name} is served without the gate`);
  return caller;
}

export interface GateOptions {
  /** Finds the principal that holds a key. */
  authenticate(key: string | undefined): Promise<Principal>;
  readonly plans: Plans;
  readonly keyLimits: KeyLimits;
  /** RPCs that need no key, as `service/method`, or `service/` for all of a service. */
  readonly open: readonly string[];
}

/**
 * Builds the gate, which runs before the body is read. It finds the caller, and refuses unknown keys and
 * those that call too often.
 */
export function gate({ open, ...options }: GateOptions): (context: HandlerContext) => Promise<void> {
  return async (context) => {
    endCheaply(context);
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

/** Finds the caller, and counts the call. @throws MemoryError `unauthenticated`, or `resource_exhausted`. */
export async function admit(
  context: Admitted,
  { authenticate, plans, keyLimits }: Omit<GateOptions, "open">,
): Promise<void> {
  const caller = await authenticate(keyOf(context.requestHeader));
  context.values.set(callerKey, caller);
  const { standing, refusal, end } = keyLimits.admit(caller.keyHash, plans.get(caller.plan));
  setRateLimitHeaders(context.responseHeader, standing);
  if (refusal !== undefined) throw refusal;
  // An unread answer is held in memory: until it is taken, the call counts as running.
  void context.values.get(takenKey).then(end);
}

/** Reads the key of `Authorization: Bearer KEY` or `X-API-Key: KEY`; the former wins. */
export function keyOf(header: Headers): string | undefined {
  const authorization = header.get("authorization");
  if (authorization === null) return header.get("x-api-key") ?? undefined;
  return /^Bearer +(\S+)$/i.exec(authorization)?.[1];
}
