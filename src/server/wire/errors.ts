import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type ContextValues, type Interceptor } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "../../../gen/google/rpc/error_details_pb.js";
import { type ErrorCode, MemoryError } from "../../errors.js";

/** Code of each error on the wire. HTTP statuses follow Connect's table; `docs/errors.md` lists them. */
const WIRE_CODES: Record<ErrorCode, Code> = {
  invalid_argument: Code.InvalidArgument,
  unauthenticated: Code.Unauthenticated,
  permission_denied: Code.PermissionDenied,
  not_found: Code.NotFound,
  already_exists: Code.AlreadyExists,
  failed_precondition: Code.FailedPrecondition,
  aborted: Code.Aborted,
  resource_exhausted: Code.ResourceExhausted,
  unavailable: Code.Unavailable,
  internal: Code.Internal,
};

export const INTERNAL_MESSAGE = "internal error; the server's log has it under this request's id";

/** Converts an error of ours to Connect's: code, message, details and headers. */
export function toConnectError(error: MemoryError): ConnectError {
  if (error.code === "internal") return masked(error);
  const code = WIRE_CODES[error.code];
  return new ConnectError(error.message, code, headersOf(error), detailsOf(error), error.cause);
}

/** Converts an error if it is one of ours. */
export function translated(error: unknown): unknown {
  return error instanceof MemoryError ? toConnectError(error) : error;
}

/** Masks a fault of the server, whose text is not for the caller. */
export function masked(cause: unknown): ConnectError {
  return new ConnectError(INTERNAL_MESSAGE, Code.Internal, undefined, undefined, cause);
}

/**
 * Translates what the room throws; `onRefused` is called with all of it, and `onFault` with what is masked.
 */
export const translateErrors =
  (
    onFault: (error: unknown, requestId: string | null) => void,
    onRefused: (error: unknown, values: ContextValues) => void = () => {},
  ): Interceptor =>
  (next) =>
  async (request) => {
    const told = (error: unknown) => {
      onRefused(error, request.contextValues);
      if (error instanceof ConnectError) return error;
      // The caller broke off, or its deadline passed: `request.signal` says which.
      if (request.signal.aborted) return ConnectError.from(request.signal.reason, Code.Canceled);
      if (!(error instanceof MemoryError) || error.code === "internal") {
        onFault(error, request.header.get("x-request-id"));
      }
      return error instanceof MemoryError ? toConnectError(error) : masked(error);
    };
    try {
      const response = await next(request);
      if (!response.stream) return response;
      return { ...response, message: translatedStream(response.message, told) };
    } catch (error) {
      throw told(error);
    }
  };

/** Passes a stream of answers on; what goes wrong in its midst is translated too. */
async function* translatedStream<T>(
  messages: AsyncIterable<T>,
  told: (error: unknown) => ConnectError,
): AsyncGenerator<T> {
  try {
    yield* messages;
  } catch (error) {
    throw told(error);
  }
}

function headersOf(error: MemoryError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (error.code === "unauthenticated") headers["www-authenticate"] = "Bearer";
  if (error.retryAfterMs !== undefined) headers["retry-after"] = String(Math.ceil(error.retryAfterMs / 1000));
  return headers;
}

function detailsOf({ field, message, reason, metadata, retryAfterMs }: MemoryError) {
  const details = [];
  if (field !== undefined) details.push(violation(field, message));
  if (reason !== undefined) {
    details.push({ desc: ErrorInfoSchema, value: { reason, domain: "recalld", metadata: { ...metadata } } });
  }
  if (retryAfterMs !== undefined) {
    details.push({ desc: RetryInfoSchema, value: { retryDelay: durationFromMs(retryAfterMs) } });
  }
  return details;
}

function violation(field: string, description: string) {
  const value: MessageInitShape<typeof BadRequestSchema> = { fieldViolations: [{ field, description }] };
  return { desc: BadRequestSchema, value };
}

/** Names what was thrown by its code on the wire. */
export function codeOf(error: unknown): string {
  const known = translated(error);
  return codeToString((known instanceof ConnectError ? known : masked(error)).code);
}
