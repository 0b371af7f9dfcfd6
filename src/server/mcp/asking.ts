import { create, type JsonObject, toJson } from "@bufbuild/protobuf";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { MemoryError } from "../../errors.js";
import type { Call } from "../call.js";
import type { Calls } from "../calls.js";
import type { Rpc } from "../rpc/service.js";
import { wireErrorOf } from "../wire/errors.js";
import { readValue } from "../wire/json-body.js";
import { JSON_OPTIONS } from "../wire/json-options.js";
import { type Ask, ToolError } from "./tools/tool.js";

const SERVICE = "recalld.v1.MemoryService/";

export interface Asking {
  readonly calls: Calls;
  readonly rpcs: ReadonlyMap<string, Rpc>;
  /** Call of the message that a tool is asked by, which was begun. */
  readonly outer: Call;
}

/** Returns a function that calls an RPC in process; each such call is logged, measured and recorded as that RPC's. */
export function asking({ calls, rpcs, outer }: Asking): Ask {
  return async (name, request) => {
    const { descriptor, serve } = rpcs.get(SERVICE + name) as Rpc;
    const { request: raw, setHeader } = outer;
    const call = calls.open({ method: SERVICE + name, protocol: "mcp", request: raw, setHeader });
    call.principal = { ...outer.caller };
    try {
      calls.checkLoad(call);
      call.message = readValue(descriptor.input, request);
      const answer = await calls.run(
        call,
        () => serve(call.message as never, call) as Promise<Record<string, unknown>>,
      );
      return toJson(descriptor.output, create(descriptor.output, answer), JSON_OPTIONS) as JsonObject;
    } catch (error) {
      call.error = error;
      const refusal = refusalOf(call, error);
      const { retryAfterSeconds } = refusal.more;
      if (retryAfterSeconds !== undefined) outer.setHeader("retry-after", String(retryAfterSeconds));
      throw refusal;
    } finally {
      outer.isReported = false;
      calls.end(call);
    }
  };
}

/** Converts an error to one that a tool shows its model. */
export function refusalOf(call: Call, error: unknown): ToolError {
  const { code, rawMessage } = wireErrorOf(call, error);
  const { reason, retryAfterMs } = error instanceof MemoryError ? error : ({} as Partial<MemoryError>);
  return new ToolError(codeToString(code), rawMessage, {
    requestId: call.id,
    reason,
    ...(retryAfterMs !== undefined && { retryAfterSeconds: Math.ceil(retryAfterMs / 1000) }),
  });
}
