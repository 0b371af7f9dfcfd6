import type { ContextValues } from "@connectrpc/connect";
import type { FastifyRequest } from "fastify";
import { invalid, MemoryError } from "../../errors.js";
import { reservationOf } from "../rpc/body-room.js";
import { checkNothingIsLost } from "../wire/json-text.js";
import { readBody } from "../wire/request-body.js";

/** Request whose body is read, and the body's largest size. */
export interface Reading {
  readonly request: FastifyRequest;
  readonly values: ContextValues;
  readonly bytesMax: number;
}

/** Reads a body as text. @throws MemoryError `invalid_argument` or `resource_exhausted`. */
export async function textIn({ request: { raw, headers }, values, bytesMax }: Reading): Promise<string> {
  const place = reservationOf(values);
  const said = headers["content-length"];
  const bytes = await readBody(raw, {
    bytesMax,
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
export async function jsonIn(reading: Reading): Promise<Readonly<Record<string, unknown>>> {
  const text = await textIn(reading);
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
