import { createContextKey, type HandlerContext } from "@connectrpc/connect";
import { MemoryError } from "../errors.js";
import type { Caller } from "../memory/meter.js";
import { toConnectError } from "./errors.js";

/** Who asks; set by the gate, read by the handlers and the log line. */
export const callerKey = createContextKey<Caller | undefined>(undefined, { description: "caller" });

/** The caller of an RPC behind the gate. */
export function callerOf(context: HandlerContext): Caller {
  const caller = context.values.get(callerKey);
  if (caller === undefined) throw new Error(`${context.method.name} is served without the gate`);
  return caller;
}

export interface GateOptions {
  /** Answers who holds a key. */
  authenticate(key: string | undefined): Promise<Caller>;
  /** RPCs that need no key, as `service/method`, or `service/` for all of one. */
  readonly open: readonly string[];
}

/** Runs before the body is read: finds out who asks and turns strangers away. */
export function gate({ authenticate, open }: GateOptions): (context: HandlerContext) => Promise<void> {
  return async (context) => {
    const name = `${context.service.typeName}/${context.method.name}`;
    if (open.some((prefix) => name.startsWith(prefix))) return;
    try {
      context.values.set(callerKey, await authenticate(keyOf(context.requestHeader)));
    } catch (error) {
      throw error instanceof MemoryError ? toConnectError(error) : error;
    }
  };
}

/** The key of `Authorization: Bearer KEY` or `X-API-Key: KEY`; the former wins. */
function keyOf(header: Headers): string | undefined {
  const authorization = header.get("authorization");
  if (authorization === null) return header.get("x-api-key") ?? undefined;
  return /^Bearer +(\S+)$/i.exec(authorization)?.[1];
}
