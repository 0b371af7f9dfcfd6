import type { ContextValues } from "@connectrpc/connect";
import type { FastifyRequest } from "fastify";
import { invalid, MemoryError } from "../../errors.js";
import { reservationOf } from "../rpc/body-room.js";
import { checkNothingIsLost, shown } from "../wire/json-text.js";
import { readBody } from "../wire/request-body.js";

const BODY_BYTES_MAX = 1_024;

/** A request for a session. */
export interface SessionRequest {
  /** Whether it outlives the browser. */
  readonly stay: boolean;
}

/** Reads the request for a session. @throws MemoryError `invalid_argument` or `resource_exhausted`. */
export async function readSessionRequest(
  { raw, headers }: FastifyRequest,
  values: ContextValues,
): Promise<SessionRequest> {
  const place = reservationOf(values);
  const said = headers["content-length"];
  const bytes = await readBody(raw, {
    bytesMax: BODY_BYTES_MAX,
    bytesSaid: said === undefined ? undefined : Number(said),
    compression: headers["content-encoding"] ?? null,
    claim: (size) => place.resize(size),
  });
  const { stay = false, ...others } = parse(bytes);
  const [other] = Object.keys(others);
  if (other !== undefined) throw invalid(shown(other), "is not a field of this request; there is stay");
  if (typeof stay !== "boolean") throw invalid("stay", "is neither true nor false");
  return { stay };
}

function parse(bytes: Uint8Array): Record<string, unknown> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const value = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw invalid("body", "is not a JSON object");
    }
    checkNothingIsLost(text);
    return value;
  } catch (error) {
    throw error instanceof MemoryError ? error : invalid("body", "is not JSON in UTF-8");
  }
}
