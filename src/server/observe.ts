import { type Code, createContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { callerKey } from "./caller.js";

/** One call, as the log sees it: whatever its protocol and however it ended. */
export interface Call {
  readonly path: string;
  readonly protocol: "connect" | "grpc" | "grpc-web";
  /** `ok`, or Connect's name of the error. */
  readonly code: string;
  readonly ms: number;
  readonly requestId: string | null;
  readonly accountId: string | undefined;
}

/** Reports each call once, at its end: refusals by the gate and unreadable bodies too, which interceptors never see. */
export function observed(handler: UniversalHandler, onEnd: (call: Call) => void): UniversalHandler {
  const observe = async (request: Parameters<UniversalHandler>[0]): Promise<UniversalServerResponse> => {
    const startMs = performance.now();
    const contextValues = request.contextValues ?? createContextValues();
    const response = await handler({ ...request, contextValues });
    const end = (code: string) =>
      onEnd({
        path: handler.requestPath,
        protocol: protocolOf(request.header),
        code,
        ms: performance.now() - startMs,
        requestId: request.header.get("x-request-id"),
        accountId: contextValues.get(callerKey)?.accountId,
      });
    return { ...response, body: watched(response, end) };
  };
  return Object.assign(observe, handler);
}

/** The response's body, passed on; its last bytes and its trailer tell how the call ended. */
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
  const text = last === undefined ? "" : Buffer.from(last).toString("latin1");
  // gRPC-Web sends its trailer as the last envelope of the body.
  const webStatus = /^\x80.*grpc-status: *(\d+)/is.exec(text)?.[1];
  if (webStatus !== undefined) return nameOf(Number(webStatus));
  if (status === 200) return "ok";
  return /^\{"code":"(\w+)"/.exec(text)?.[1] ?? `http_${status}`;
}

function nameOf(grpcStatus: number): string {
  return grpcStatus === 0 ? "ok" : codeToString(grpcStatus as Code);
}

function protocolOf(header: Headers): Call["protocol"] {
  const type = header.get("content-type") ?? "";
  if (type.startsWith("application/grpc-web")) return "grpc-web";
  return type.startsWith("application/grpc") ? "grpc" : "connect";
}
