import { randomUUID } from "node:crypto";
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
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
import { invalid, MemoryError, type Reason } from "../errors.js";
import type { Call } from "./call.js";
import { grpcTypeOf } from "./content-type.js";

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

/** Connect's names for errors that HTTP alone can have. */
const CODES: Record<number, string> = {
  400: "invalid_argument",
  404: "not_found",
  405: "unimplemented",
  408: "deadline_exceeded",
  413: "resource_exhausted",
  415: "invalid_argument",
  417: "invalid_argument",
  431: "resource_exhausted",
  501: "unimplemented",
  503: "unavailable",
  505: "unimplemented",
};

/** `Cache-Control` of all answers but files: they hold memories and keys, or are true for a moment only. */
export const NO_STORE = "no-store";

/** Builds an error of Connect's shape for an answer that no RPC gave. */
export function errorBody(status: number, message: string): { code: string; message: string } {
  return { code: CODES[status] ?? (status >= 500 ? "internal" : "unknown"), message };
}

/** Answer to a call of gRPC, or of gRPC-Web, whose status is among the headers. It has HTTP 200 and no body. */
export interface GrpcError {
  readonly header: Headers;
  readonly trailer: Headers;
}

/**
 * Builds the answer to a call of gRPC or gRPC-Web that does not reach Connect; undefined for other requests. A body
 * would be read as messages. gRPC's status is in trailers, as in Connect's own errors: among the headers it would
 * have to end the stream, and Node ends an answer by a frame of its own.
 */
export function grpcErrorOf(
  { method, type }: { readonly method: string | undefined; readonly type: string | null | undefined },
  error: ConnectError,
): GrpcError | undefined {
  const grpcType = method === "POST" ? grpcTypeOf(type ?? "") : undefined;
  if (grpcType === undefined) return undefined;
  const header = new Headers({ "content-type": grpcType });
  const trailer = new Headers();
  setTrailerStatus(grpcType.startsWith("application/grpc-web") ? header : trailer, error);
  return { header, trailer };
}

/** Ends a request for which `grpcErrorOf` has an answer, and returns true if it did. */
export function endWithGrpcError(
  { method, headers: { "content-type": type } }: IncomingMessage,
  response: ServerResponse,
  { error, headers }: { readonly error: ConnectError; readonly headers: Readonly<Record<string, string>> },
): boolean {
  const grpc = grpcErrorOf({ method, type }, error);
  if (grpc === undefined) return false;
  // Without a length, which would keep trailers out of HTTP/1.
  response.writeHead(200, { ...headers, ...Object.fromEntries(grpc.header) });
  response.addTrailers(Object.fromEntries(grpc.trailer));
  response.end();
  return true;
}

/** Converts an error that HTTP alone knows to one of gRPC's, where what is not served has a code of its own. */
export function httpErrorOf(status: number, message: string): ConnectError {
  const code = status === 404 ? Code.Unimplemented : codeFromString(errorBody(status, message).code);
  return new ConnectError(message, code);
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
  const [status, message] = UNREADABLE[error.code] ?? [400, "the request is not HTTP"];
  const body = JSON.stringify(errorBody(status, message));
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

const UNREADABLE: Record<string, [status: number, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, "the headers are larger than 16,384 bytes"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "the request did not arrive in time"],
};

/** Sends an error that HTTP alone knows. */
export function sendError(reply: FastifyReply, status: number, message: string): FastifyReply {
  if (sendGrpcError(reply, httpErrorOf(status, message))) return reply;
  const body = errorBody(status, message);
  return reply
    .code(status)
    .type("application/json")
    .send({ ...body, ...aboutError(reply.request, body.code) });
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
  if (sendGrpcError(reply, error)) return reply;
  error.metadata.forEach((value, name) => void reply.header(name, value));
  reply.headers(headers);
  const { reason, field } =
    thrown instanceof MemoryError && thrown.code !== "internal"
      ? thrown
      : ({} as { reason?: Reason; field?: string });
  const body = {
    ...(errorToJson(error, { useProtoFieldName: true }) as object),
    ...(reason !== undefined && { reason }),
    ...(field !== undefined && { field }),
    ...aboutError(reply.request, codeToString(error.code)),
  };
  const status = reason === "BODY_TOO_LARGE" ? 413 : codeToHttpStatus(error.code);
  return reply.code(status).type("application/json").send(JSON.stringify(body));
}

function sendGrpcError(reply: FastifyReply, error: ConnectError): boolean {
  const headers = reply.getHeaders() as Record<string, string>;
  const isSent = endWithGrpcError(reply.request.raw, reply.raw, { error, headers });
  if (isSent) reply.hijack();
  return isSent;
}

/** The request's id, and the page about the error. */
function aboutError(request: FastifyRequest, code: string) {
  return { request_id: request.id, docs_url: `${siteOf(request)}/docs/errors#${code.replaceAll("_", "-")}` };
}

/** Address of the server as its caller names it; a proxy in front of it may speak TLS for it. */
export function siteOf({ protocol, headers }: Pick<FastifyRequest, "protocol" | "headers">): string {
  const isSecure = protocol === "https" || headers["x-forwarded-proto"] === "https";
  return `${isSecure ? "https" : "http"}://${headers[":authority"] ?? headers.host ?? "localhost"}`;
}
