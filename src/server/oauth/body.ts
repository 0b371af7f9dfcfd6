import type { ContextValues } from "@connectrpc/connect";
import type { FastifyRequest } from "fastify";
import { invalid, MemoryError } from "../../errors.js";
import { reservationOf } from "../rpc/body-room.js";
import { checkNothingIsLost } from "../wire/json-text.js";
import { readBody } from "../wire/request-body.js";

/** Maximum size of a request: addresses and a name, or a code and its verifier. */
const BODY_BYTES_MAX = 16_384;

/** Reads a body as text. @throws MemoryError `invalid_argument` or `resource_exhausted`. */
export async function textIn({ raw, headers }: FastifyRequest, values: ContextValues): Promise<string> {
  const place = reservationOf(values);
  const said = headers["content-length"];
  const bytes = await readBody(raw, {
    bytesMax: BODY_BYTES_MAX,
    bytesSaid: said === undefined ? undefined : Number(said),
    compression: headers["content-encoding"] ?? null,
    claim: (size) => place.resize(size),
  });
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalid("body", "is not UTF-8");
  }
}

/** Reads a body as an object of JSON. @throws like `textIn`. */
export async function jsonIn(
  request: FastifyRequest,
  values: ContextValues,
): Promise<Readonly<Record<string, unknown>>> {
  const text = await textIn(request, values);
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
