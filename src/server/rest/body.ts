import type { FastifyRequest } from "fastify";
import { invalid, MemoryError } from "../../errors.js";
import type { Call } from "../call.js";
import { compressionOf } from "../wire/content-type.js";
import { checkNothingIsLost } from "../wire/json-text.js";
import { readBody } from "../wire/request-body.js";

/** Reads the body of a request. @throws MemoryError, or ConnectError `canceled` or `unimplemented`. */
export function bytesIn({ headers }: FastifyRequest, call: Call, bytesMax: number): Promise<Uint8Array> {
  return readBody({ call, bytesMax, compression: compressionOf(headers["content-encoding"]) });
}

/** Reads a body as text. @throws MemoryError `invalid_argument` or `resource_exhausted`. */
export async function textIn(request: FastifyRequest, call: Call, bytesMax: number): Promise<string> {
  const bytes = await bytesIn(request, call, bytesMax);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalid("body", "is not UTF-8");
  }
}

/** Reads a body as an object of JSON. @throws like `textIn`. */
export async function jsonIn(
  request: FastifyRequest,
  call: Call,
  bytesMax: number,
): Promise<Readonly<Record<string, unknown>>> {
  const text = await textIn(request, call, bytesMax);
  try {
    const value = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw invalid("body", "is not a JSON object");
    }
    checkNothingIsLost(text);
    return value;
  } catch (error) {
    throw error instanceof MemoryError ? error : invalid("body", "is not JSON");
  }
}
