import { randomUUID } from "node:crypto";
import { type IncomingMessage, METHODS, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  codeFromString,
  codeToHttpStatus,
  codeToString,
  errorToJson,
} from "@connectrpc/connect/protocol-connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import type { ConnectionError, FastifyReply, FastifyRequest } from "fastify";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { invalid, MemoryError } from "../errors.js";
import type { Call } from "./call.js";
import { grpcTypeOf } from "./content-type.js";
import { noteRefusal } from "./listen/refusals.js";

export const INTERNAL_MESSAGE = "internal error; the server's log has it under this request's id";

/**
 * Converts an error of ours to Connect's: code, which has the same name there, message, details and headers. HTTP
 * statuses follow Connect's table; `docs/errors.md` lists them.
 */
export function toConnectError(error: MemoryError): ConnectError {
  if (error.code === "internal") return masked(error);
  const code = codeFromString(error.code) as Code;
  const { stackTraceLimit } = Error;
  // It is an answer, and is never logged, so no stack is captured; `MemoryError` does the same.
  Error.stackTraceLimit = 0;
  const converted = new ConnectError(error.message, code, headersOf(error), detailsOf(error), error.cause);
  Error.stackTraceLimit = stackTraceLimit;
  return converted;
}

/** Masks a fault of the server, whose text is not for the caller. */
function masked(cause: unknown): ConnectError {
  return new ConnectError(INTERNAL_MESSAGE, Code.Internal, undefined, undefined, cause);
}

/** Converts what a call ended with to Connect's error, in which a fault of the server is masked. */
export function wireErrorOf({ abortReason }: Pick<Call, "abortReason">, error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  // The caller broke off, or its deadline passed: the work says only that it was aborted.
  if (abortReason !== undefined) return abortReason;
  return error instanceof MemoryError ? toConnectError(error) : masked(error);
}

function headersOf(error: MemoryError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (error.code === "unauthenticated") headers["www-authenticate"] = "Bearer";
  if (error.retryAfterMs !== undefined) headers["retry-after"] = String(Math.ceil(error.retryAfterMs / 1000));
  return headers;
}

function detailsOf({ field, message, reason, metadata, retryAfterMs }: MemoryError) {
  const details = [];
  if (field !== undefined) {
    details.push({ desc: BadRequestSchema, value: { fieldViolations: [{ field, description: message }] } });
  }
  if (reason !== undefined) {
    details.push({ desc: ErrorInfoSchema, value: { reason, domain: "recalld", metadata: { ...metadata } } });
  }
  if (retryAfterMs !== undefined) {
    details.push({ desc: RetryInfoSchema, value: { retryDelay: durationFromMs(retryAfterMs) } });
  }
  return details;
}

/** Codes of errors that HTTP alone can have. */
const CODES: Record<number, Code> = {
  400: Code.InvalidArgument,
  404: Code.NotFound,
  405: Code.Unimplemented,
  408: Code.DeadlineExceeded,
  413: Code.ResourceExhausted,
  415: Code.InvalidArgument,
  417: Code.InvalidArgument,
  431: Code.ResourceExhausted,
  501: Code.Unimplemented,
  503: Code.Unavailable,
  505: Code.Unimplemented,
};

/** `Cache-Control` of all answers but files: they hold memories and keys, or are true for a moment only. */
export const NO_STORE = "no-store";

/** Converts an error that HTTP alone knows to Connect's. */
export function httpErrorOf(status: number, message: string): ConnectError {
  return new ConnectError(message, CODES[status] ?? (status >= 500 ? Code.Internal : Code.Unknown));
}

/**
 * Ends a call of gRPC or gRPC-Web that does not reach Connect, and returns true; false for other requests. Its answer
 * has HTTP 200 and no body, which would be read as messages. gRPC's status is in trailers, as in Connect's own errors: among
 * the headers it would have to end the stream, and Node ends an answer by a frame of its own.
 */
export function endWithGrpcError(
  { method, headers: { "content-type": type } }: IncomingMessage,
  response: ServerResponse,
  { error, headers }: { readonly error: ConnectError; readonly headers: Readonly<Record<string, string>> },
): boolean {
  const grpcType = method === "POST" ? grpcTypeOf(type ?? "") : undefined;
  if (grpcType === undefined) return false;
  const status = new Headers();
  setTrailerStatus(status, error);
  const isWeb = grpcType.startsWith("application/grpc-web");
  // Without a length, which would keep trailers out of HTTP/1.
  response.writeHead(200, { ...headers, "content-type": grpcType, ...(isWeb && Object.fromEntries(status)) });
  if (!isWeb) response.addTrailers(Object.fromEntries(status));
  response.end();
  return true;
}

/** Responds to a URL without a route to look up: its percent-encoding is broken, or a part is too long. */
export function answerUnroutable(_error: Error, request: FastifyRequest, reply: FastifyReply): void {
  // The hooks that set these elsewhere do not run.
  reply.headers({ "x-request-id": request.id, "cache-control": NO_STORE });
  const error = invalid("path", "is not percent-encoded UTF-8, or a part of it is too long");
  sendCallError(reply, { abortReason: undefined }, error);
}

/** Responds to bytes that are no HTTP/1 request: there is nothing yet to answer through but the socket. */
export function answerUnreadable(error: ConnectionError, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  // The second happens to clients that count characters in place of bytes.
  const unknown = "the request is not HTTP, or its body is longer than its Content-Length";
  const [status, message] = UNREADABLE[error.code] ?? [400, unknown];
  const body = JSON.stringify(errorToJson(httpErrorOf(status, message), undefined));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Content-Type: application/json",
    `Cache-Control: ${NO_STORE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
    // The request's own id could not be read.
    `X-Request-ID: ${randomUUID()}`,
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

/**
 * Refuses a method that there is not, and returns true. Node's reader of HTTP/1 refuses those itself; with HTTP/2 they
 * come as far as Fastify, which takes each for a fault of its own.
 */
export function refuseMethod(request: IncomingMessage, response: ServerResponse): boolean {
  const { method = "" } = request;
  if (METHODS.includes(method) || method === "QUERY") return false;
  noteRefusal(request);
  const error = httpErrorOf(501, "the request has a method that HTTP does not have");
  const headers = {
    "content-type": "application/json",
    "cache-control": NO_STORE,
    "x-request-id": randomUUID(),
  };
  response.writeHead(501, headers).end(JSON.stringify(errorToJson(error, undefined)));
  return true;
}

const UNREADABLE: Record<string, [status: number, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, "the headers are larger than 16,384 bytes"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "the request did not arrive in time"],
};

/** Sends an error that HTTP alone knows. */
export function sendError(reply: FastifyReply, status: number, message: string): FastifyReply {
  const error = httpErrorOf(status, message);
  // In gRPC, what is not served has a code of its own.
  const inGrpc = status === 404 ? new ConnectError(message, Code.Unimplemented) : error;
  return send(reply, status, error, { inGrpc });
}

/**
 * Sends what a call has thrown, as Connect does, with its reason and field at the top level. The given headers come
 * before the error's own.
 */
export function sendCallError(
  reply: FastifyReply,
  call: Pick<Call, "abortReason">,
  thrown: unknown,
  headers: Readonly<Record<string, string>> = {},
): FastifyReply {
  const error = wireErrorOf(call, thrown);
  const { reason, field } =
    thrown instanceof MemoryError && thrown.code !== "internal" ? thrown : ({} as Partial<MemoryError>);
  const status = reason === "BODY_TOO_LARGE" ? 413 : codeToHttpStatus(error.code);
  return send(reply, status, error, { headers, more: { reason, field } });
}

/**
 * Sends an error with the request's id, and the page about it. A client of gRPC may get another in its place; `more` has
 * fields of the answer beside those of Connect.
 */
function send(
  reply: FastifyReply,
  status: number,
  error: ConnectError,
  { inGrpc = error, headers = {}, more = {} }: { inGrpc?: ConnectError; headers?: object; more?: object },
): FastifyReply {
  const { request, raw } = reply;
  const set = reply.getHeaders() as Record<string, string>;
  if (endWithGrpcError(request.raw, raw, { error: inGrpc, headers: set })) return reply.hijack();
  error.metadata.forEach((value, name) => void reply.header(name, value));
  const anchor = codeToString(error.code).replaceAll("_", "-");
  const body = {
    ...(errorToJson(error, { useProtoFieldName: true }) as object),
    ...more,
    request_id: request.id,
    docs_url: `${siteOf(request)}/docs/errors#${anchor}`,
  };
  return reply.headers(headers).code(status).type("application/json").send(JSON.stringify(body));
}

/** Address of the server as its caller names it; a proxy in front of it may speak TLS for it, or have it below a path. */
export function siteOf({ protocol, headers }: Pick<FastifyRequest, "protocol" | "headers">): string {
  const isSecure = protocol === "https" || headers["x-forwarded-proto"] === "https";
  const site = `${isSecure ? "https" : "http"}://${headers[":authority"] ?? headers.host ?? ""}`;
  const [, prefix = ""] = /^((?:\/[\w.~-]+)+)\/?$/.exec(String(headers["x-forwarded-prefix"])) ?? [];
  return URL.canParse(site) ? site + prefix : "http://localhost";
}
