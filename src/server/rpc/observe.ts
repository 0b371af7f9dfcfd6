import {
  Code,
  ConnectError,
  type ContextValues,
  createContextKey,
  createContextValues,
} from "@connectrpc/connect";
import type {
  UniversalHandler,
  UniversalServerRequest,
  UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import type { CallStep, Steps } from "../../memory/ports/steps.js";
import { callerKey } from "./caller.js";

export type Protocol = "connect" | "grpc" | "grpc-web" | "json" | "mcp";

/** One call that has ended, as it is logged, whatever its protocol and however it ended. */
export interface Call {
  /** RPC as `service/method` of the contract. */
  readonly method: string;
  readonly protocol: Protocol;
  /** Outcome: `ok`, or Connect's name of the error. */
  readonly code: string;
  readonly ms: number;
  readonly requestId: string | null;
  readonly traceId: string | undefined;
  readonly accountId: string | undefined;
}

/** Receiver of what happens to one call while it runs. */
export interface CallWatcher {
  readonly traceId?: string | undefined;
  /** Times the steps of the call. */
  readonly steps?: Steps<CallStep> | undefined;
  end(ended: Ended): void;
}

/** Outcome of a call. */
export type Ended = Pick<Call, "code" | "ms" | "accountId">;

/** A call that begins. */
export interface Begun extends Pick<Call, "method" | "protocol"> {
  readonly header: Headers;
  /** True if the answer is a stream, which may run for long. */
  readonly streams: boolean;
}

export interface ObserveOptions {
  /** True if the handler serves a plain path. */
  readonly plain?: boolean;
  onBegin(call: Begun): CallWatcher;
  /** Called with the call, and with the values that it left. */
  onEnd(call: Call, values: ContextValues): void;
}

/** Timer of the steps of a call. */
export const stepsKey = createContextKey<Steps<CallStep> | undefined>(undefined, { description: "steps" });

/** Protocol of a request that was not made for an RPC, and is handed to its handler. */
export const protocolKey = createContextKey<Protocol | undefined>(undefined, { description: "protocol" });

/** Trace id in a `traceparent` header of W3C Trace Context, version 00 and later ones. */
const TRACE_PARENT = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-[\da-f]{16}-[\da-f]{2}(?:-|$)/;

/** Flag of an envelope of gRPC-Web that holds the trailer, and of Connect's streams that ends one. */
const TRAILER_FLAG = 0x80;
const END_STREAM_FLAG = 0x02;

/**
 * Reports each call once, at its end. That includes refusals by the gate and unreadable bodies, which
 * interceptors never see.
 */
export function observed(handler: UniversalHandler, options: ObserveOptions): UniversalHandler {
  const method = `${handler.service.typeName}/${handler.method.name}`;
  const observe = async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    const startMs = performance.now();
    const { header, contextValues = createContextValues() } = request;
    const protocol = options.plain ? "json" : (contextValues.get(protocolKey) ?? protocolOf(header));
    const streams = handler.method.methodKind !== "unary";
    const watcher = options.onBegin({ method, protocol, header, streams });
    contextValues.set(stepsKey, watcher.steps);
    const end = (code: string) => {
      const ms = performance.now() - startMs;
      const ended = { code, ms, accountId: contextValues.get(callerKey)?.accountId };
      watcher.end(ended);
      const traceId = watcher.traceId ?? TRACE_PARENT.exec(header.get("traceparent") ?? "")?.[1];
      const requestId = header.get("x-request-id");
      options.onEnd({ method, protocol, ...ended, requestId, traceId }, contextValues);
    };
    try {
      const response = await handler({ ...request, contextValues });
      return { ...response, body: watched(response, end) };
    } catch (error) {
      end(codeToString(ConnectError.from(error, Code.Internal).code));
      throw error;
    }
  };
  return Object.assign(observe, handler);
}

/** Passes the response's body on. Its last bytes and its trailer tell how the call ended. */
async function* watched(response: UniversalServerResponse, end: (code: string) => void) {
  let last: Uint8Array | undefined;
  try {
    for await (const chunk of response.body ?? []) {
      last = chunk;
      yield chunk;
    }
  } finally {
    end(codeOf(response, last));
  }
}

function codeOf({ status, header, trailer }: UniversalServerResponse, last: Uint8Array | undefined): string {
  const grpcStatus = trailer?.get("grpc-status") ?? header?.get("grpc-status");
  if (grpcStatus != null) return nameOf(Number(grpcStatus));
  // gRPC-Web sends its trailer as the last envelope of the body.
  const hasTrailer = last?.[0] === TRAILER_FLAG;
  const isStream = header?.get("content-type")?.startsWith("application/connect+") === true;
  if (isStream && last?.[0] === END_STREAM_FLAG) return endOf(last);
  // Most answers are read by nobody here: one may have megabytes.
  if (status === 200 && !hasTrailer) return "ok";
  const text = last === undefined ? "" : Buffer.from(last).toString("latin1");
  const webStatus = hasTrailer ? /grpc-status: *(\d+)/i.exec(text)?.[1] : undefined;
  if (webStatus !== undefined) return nameOf(Number(webStatus));
  if (status === 200) return "ok";
  return /^\{"code":"(\w+)"/.exec(text)?.[1] ?? `http_${status}`;
}

/** Reads the outcome of one of Connect's streams from its last envelope. */
function endOf(envelope: Uint8Array): string {
  const text = Buffer.from(envelope.subarray(5)).toString();
  return /"error":\{"code":"(\w+)"/.exec(text)?.[1] ?? "ok";
}

function nameOf(grpcStatus: number): string {
  return grpcStatus === 0 ? "ok" : codeToString(grpcStatus as Code);
}

function protocolOf(header: Headers): Protocol {
  const type = header.get("content-type") ?? "";
  if (type.startsWith("application/grpc-web")) return "grpc-web";
  return type.startsWith("application/grpc") ? "grpc" : "connect";
}
