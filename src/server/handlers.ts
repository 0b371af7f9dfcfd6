import type { ConnectRouter } from "@connectrpc/connect";
import type {
  UniversalHandler,
  UniversalServerRequest,
  UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { toConnectError } from "./errors.js";
import { type ObserveOptions, observed } from "./observe.js";
import { once, unsupported, withBody } from "./plain-errors.js";
import { checkedBody, type Encoding, tooLarge } from "./request-body.js";

export interface HandlerOptions extends Pick<ObserveOptions, "onBegin" | "onEnd"> {
  /** Second paths by the RPC's own: the same handler serves both. */
  readonly plainPaths: Readonly<Record<string, string>>;
  readonly bodyBytesMax: number;
}

/**
 * Dresses the router's handlers: bodies are checked strictly, what only HTTP refused gets a
 * body of Connect's shape, and each call is reported once. Then mounts the plain paths.
 */
export function dressHandlers(
  router: ConnectRouter,
  { plainPaths, bodyBytesMax, ...options }: HandlerOptions,
): void {
  for (const [i, bare] of [...router.handlers].entries()) {
    router.handlers[i] = observed(explained(strict(bare, { bytesMax: bodyBytesMax })), options);
    const requestPath = plainPaths[bare.requestPath];
    if (requestPath === undefined) continue;
    const handler = explained(strict(bare, { bytesMax: bodyBytesMax, tooLargeStatus: 413 }));
    const dressed = Object.assign(plain(handler, bodyBytesMax), handler, { requestPath });
    router.handlers.push(observed(dressed, { ...options, plain: true }));
  }
}

/** Checks a body while it is read, behind the gate; `tooLargeStatus` replaces Connect's own. */
function strict(
  handler: UniversalHandler,
  { bytesMax, tooLargeStatus }: { bytesMax: number; tooLargeStatus?: number },
): UniversalHandler {
  const { input: message, methodKind } = handler.method;
  const checked = async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    const encoding = methodKind === "unary" ? encodingOf(request.header) : undefined;
    if (encoding === undefined) return handler(request);
    if (!isByteStream(request.body)) {
      // Of a resource path: written out as JSON, it takes the same way as all others.
      const bytes = Buffer.from(JSON.stringify(request.body));
      return checked({ ...request, body: once(bytes) });
    }
    let large = false;
    const onTooLarge = () => {
      large = true;
    };
    const body = checkedBody(request.body, { message, ...encoding, bytesMax, onTooLarge });
    const response = await handler({ ...request, body });
    return large && tooLargeStatus !== undefined ? { ...response, status: tooLargeStatus } : response;
  };
  return Object.assign(checked, handler);
}

/** Says in a body what a bare 405 or 415 means. */
function explained(handler: UniversalHandler): UniversalHandler {
  const explain = async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    const response = await handler(request);
    if (response.body !== undefined) return response;
    if (response.status === 405) {
      const allow = handler.allowedMethods.join(", ");
      const header = new Headers(response.header);
      header.set("allow", allow);
      return withBody(
        { ...response, header },
        `${request.method.slice(0, 16)} is not served here; use ${allow}`,
      );
    }
    if (response.status === 415)
      return withBody(response, unsupported(request.header.get("content-type") ?? "none"));
    return withBody(response, `HTTP ${response.status}`);
  };
  return Object.assign(explain, handler);
}

/** On the plain paths JSON alone is spoken, and a body over the limit is 413, as HTTP clients expect. */
function plain(handler: UniversalHandler, bytesMax: number) {
  return async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    if (request.method === "POST" && !isJson(request)) {
      return withBody({ status: 415 }, unsupported(request.header.get("content-type") ?? "none"));
    }
    // Before the gate: what is not going to be read need not be awaited.
    if (Number(request.header.get("content-length")) > bytesMax) return refused(bytesMax);
    return handler(request);
  };
}

function refused(bytesMax: number): UniversalServerResponse {
  const error = errorToJsonBytes(toConnectError(tooLarge(bytesMax)), { useProtoFieldName: true });
  return { status: 413, header: new Headers({ "content-type": "application/json" }), body: once(error) };
}

function isJson({ header }: UniversalServerRequest): boolean {
  return /^application\/json\b/i.test(header.get("content-type") ?? "");
}

/** How the body of a unary call is written; undefined for types that are not served. */
function encodingOf(header: Headers): Encoding | undefined {
  const type = header.get("content-type") ?? "";
  const [, grpc, codec] = /^application\/(?:(grpc(?:-web)?)\+?)?(json|proto|)(?:$|[\s;])/i.exec(type) ?? [];
  if (codec === undefined || (grpc === undefined && codec === "")) return undefined;
  return {
    // gRPC's default is Protobuf.
    codec: codec.toLowerCase() === "json" ? "json" : "proto",
    enveloped: grpc !== undefined,
    compression: header.get(grpc === undefined ? "content-encoding" : "grpc-encoding"),
  };
}

function isByteStream(body: UniversalServerRequest["body"]): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}
