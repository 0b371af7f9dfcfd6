import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeFromString } from "@connectrpc/connect/protocol-connect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "../../../gen/google/rpc/error_details_pb.js";
import { MemoryError } from "../../errors.js";
import type { Call } from "../call.js";

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

/** Converts an error if it is one of ours. */
export function translated(error: unknown): unknown {
  return error instanceof MemoryError ? toConnectError(error) : error;
}

/** Masks a fault of the server, whose text is not for the caller. */
export function masked(cause: unknown): ConnectError {
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
