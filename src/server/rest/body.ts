import type { FastifyRequest } from "fastify";
import { invalid } from "../../errors.js";
import type { Call } from "../call.js";
import { compressionOf } from "../wire/content-type.js";
import { checkNothingIsLost, isObject, parsed, textOf } from "../wire/json-text.js";
import { readBody } from "../wire/request-body.js";

/** Reads the body of a request. @throws MemoryError, or ConnectError `canceled` or `unimplemented`. */
export function bytesIn({ headers }: FastifyRequest, call: Call, bytesMax: number): Promise<Uint8Array> {
  return readBody({ call, bytesMax, compression: compressionOf(headers["content-encoding"]) });
}

/** Reads a body as an object of JSON. @throws MemoryError `invalid_argument` or `resource_exhausted`. */
export async function jsonIn(
  request: FastifyRequest,
  call: Call,
  bytesMax: number,
): Promise<Readonly<Record<string, unknown>>> {
  const text = textOf(await bytesIn(request, call, bytesMax));
  const value = parsed(text);
  if (!isObject(value)) throw invalid("body", "is not a JSON object");
  checkNothingIsLost(text);
  return value as Readonly<Record<string, unknown>>;
}
