import type { ContextValues } from "@connectrpc/connect";
import type { FastifyRequest } from "fastify";
import { reservationOf } from "../rpc/body-room.js";
import { readBody } from "../wire/request-body.js";
import { type Read, readMessage } from "./reading.js";

interface Reading {
  readonly bodyBytesMax: number;
  /** Context of the message, with its caller. */
  readonly values: ContextValues;
}

/** Reads one message. @throws MemoryError `invalid_argument` or `resource_exhausted`. */
export async function messageIn(
  { raw, headers }: FastifyRequest,
  { values, bodyBytesMax }: Reading,
): Promise<Read> {
  const place = reservationOf(values);
  const said = headers["content-length"];
  const bytes = await readBody(raw, {
    bytesMax: bodyBytesMax,
    bytesSaid: said === undefined ? undefined : Number(said),
    compression: headers["content-encoding"] ?? null,
    claim: (size) => place.resize(size),
  });
  return readMessage(bytes);
}
