import { type ConnectRouter, createContextValues } from "@connectrpc/connect";
import type {
  UniversalHandler,
  UniversalServerRequest,
  UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { invalid } from "../../errors.js";
import { posted } from "../wire/connect-get.js";
import { normalizeHeaders } from "../wire/content-type.js";
import { toConnectError, translated } from "../wire/errors.js";
import { inBytes, inText, isText } from "../wire/grpc-web-text.js";
import { shown } from "../wire/json-text.js";
import { once, refusing, unsupported, withBody } from "../wire/plain-errors.js";
import { checkedBody, ENVELOPE_BYTES, type Encoding, tooLarge } from "../wire/request-body.js";
import { checkedStream } from "../wire/request-stream.js";
import { type Reservation, reservationOf } from "./body-room.js";
import { type ObserveOptions, observed } from "./observe.js";

/** Of all that a call of health or reflection sends, however long it lasts. */
const STREAM_BYTES_MAX = 65_536;

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
    router.handlers[i] = lenient(observed(explained(strict(bare, { bytesMax: bodyBytesMax })), options));
    const requestPath = plainPaths[bare.requestPath];
    if (requestPath === undefined) continue;
    const handler = explained(strict(bare, { bytesMax: bodyBytesMax, tooLargeStatus: 413 }));
    const dressed = Object.assign(plain(handler, bodyBytesMax), handler, { requestPath });
    router.handlers.push(lenient(observed(dressed, { ...options, plain: true })));
  }
}

/** Checks the bodies of the handlers from this one on, which are open to all and not reported. */
export function dressOpenHandlers(
  router: ConnectRouter,
  { from, bytesMax }: { from: number; bytesMax: number },
): void {
  for (const [i, bare] of [...router.handlers].entries()) {
    if (i >= from) router.handlers[i] = lenient(explained(strict(bare, { bytesMax })));
  }
}

/** Brings a request into the one form that the other checks know, and its answer into the form it came in. */
function lenient(handler: UniversalHandler): UniversalHandler {
  const read = async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    normalizeHeaders(request.header);
    if (request.method === "GET" && handler.allowedMethods.includes("GET")) return handler(posted(request));
    return isText(request) ? inText(await handler(inBytes(request))) : handler(request);
  };
  return Object.assign(read, handler);
}

/** Checks a body while it is read, behind the gate; `tooLargeStatus` replaces Connect's own. */
function strict(
  handler: UniversalHandler,
  { bytesMax, tooLargeStatus }: { bytesMax: number; tooLargeStatus?: number },
): UniversalHandler {
  const { input: message, methodKind } = handler.method;
  const checked = async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    const encoding = encodingOf(request.header);
    if (encoding === undefined) return handler(request);
    const options = { message, ...encoding, bytesMax };
    if (methodKind !== "unary") {
      const stream = countedBody(request, request.body as AsyncIterable<Uint8Array>);
      return handler({ ...request, body: checkedStream(stream, options) });
    }
    let large = false;
    const onTooLarge = () => {
      large = true;
    };
    const claiming = { bytesSaid: bytesSaid(request.header), claim: claimOf(request) };
    const body = checkedBody(bodyOf(request, options), { ...options, onTooLarge, ...claiming });
    const response = await handler({ ...request, body });
    return large && tooLargeStatus !== undefined ? { ...response, status: tooLargeStatus } : response;
  };
  return Object.assign(checked, handler);
}

/** The body as it comes, or its refusal when it says itself that it is too large: Connect's would have no reason. */
function bodyOf(
  { header, body }: UniversalServerRequest,
  { enveloped, bytesMax }: { enveloped: boolean; bytesMax: number },
): AsyncIterable<Uint8Array> {
  const bytes = Number(header.get("content-length"));
  header.delete("content-length");
  const isTooLarge = bytes > bytesMax + (enveloped ? ENVELOPE_BYTES : 0);
  return isTooLarge ? refusing(tooLarge(bytesMax)) : (body as AsyncIterable<Uint8Array>);
}

/** Takes room for a request's body; opened with the first claim, when the gate has said whose it is. */
function claimOf({ contextValues }: UniversalServerRequest): (bytes: number) => Promise<void> {
  let place: Reservation | undefined;
  return (bytes) => {
    place ??= reservationOf(contextValues ?? createContextValues());
    return place.resize(bytes);
  };
}

/** Counts the bytes of a stream of messages, whoever reads them. */
async function* countedBody(
  request: UniversalServerRequest,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const claim = claimOf(request);
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > STREAM_BYTES_MAX) throw toConnectError(tooLarge(STREAM_BYTES_MAX));
    await claim(bytes).catch((error) => Promise.reject(translated(error)));
    yield chunk;
  }
}

function bytesSaid(header: Headers): number | undefined {
  const said = header.get("content-length");
  return said === null || !/^\d+$/.test(said) ? undefined : Number(said);
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
    return handler(withoutQuery(request));
  };
}

/** On a plain path everything stands in the body: a query would be passed over in silence. */
function withoutQuery(request: UniversalServerRequest): UniversalServerRequest {
  const name = /\?([^=&]+)/.exec(request.url)?.[1];
  if (name === undefined || request.method !== "POST") return request;
  const error = invalid(shown(name), "stands in the query, which is not read here; send it in the body");
  return { ...request, body: refusing(error) };
}

function refused(bytesMax: number): UniversalServerResponse {
  const error = errorToJsonBytes(toConnectError(tooLarge(bytesMax)), { useProtoFieldName: true });
  return { status: 413, header: new Headers({ "content-type": "application/json" }), body: once(error) };
}

function isJson({ header }: UniversalServerRequest): boolean {
  return header.get("content-type") === "application/json";
}

/** How the body of a call is written, by its normalized headers; undefined for types that are not served. */
function encodingOf(header: Headers): Encoding | undefined {
  const type = header.get("content-type") ?? "";
  const [, wrapped, codec] = /^application\/(?:(connect|grpc(?:-web)?)\+?)?(json|proto|)$/.exec(type) ?? [];
  if (codec === undefined || (wrapped === undefined && codec === "")) return undefined;
  return {
    // gRPC's default is Protobuf.
    codec: codec === "json" ? "json" : "proto",
    enveloped: wrapped !== undefined,
    compression: header.get(encodingHeader(wrapped)),
  };
}

function encodingHeader(wrapped: string | undefined): string {
  if (wrapped === undefined) return "content-encoding";
  return wrapped === "connect" ? "connect-content-encoding" : "grpc-encoding";
}
