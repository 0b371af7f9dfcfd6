import type { ContextValues } from "@connectrpc/connect";
import type { FastifyRequest } from "fastify";
import { invalid, MemoryError } from "../../errors.js";
import { reservationOf } from "../rpc/body-room.js";
import { checkNothingIsLost } from "../wire/json-text.js";
import { readBody } from "../wire/request-body.js";

interface Reading {
  readonly bodyBytesMax: number;
  /** Context of the message, with its caller. */
  readonly values: ContextValues;
}

/** A message, as it was read. */
interface Read {
  readonly message: { readonly method?: unknown };
  /** Part of it that no value holds: a key that came twice, or digits of an integer. */
  readonly loss: MemoryError | undefined;
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
  const { text, message } = parse(bytes);
  if (typeof message !== "object" || message === null || Array.isArray(message)) {
    throw invalid("body", "is not one message of JSON-RPC");
  }
  return { message, loss: lossIn(text) };
}

function parse(bytes: Uint8Array): { text: string; message: unknown } {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { text, message: JSON.parse(text) };
  } catch {
    throw invalid("body", "is not JSON in UTF-8");
  }
}

/** Finds what reading has lost of a message. The tool that is called says so: only its answer reaches a model. */
function lossIn(text: string): MemoryError | undefined {
  try {
    checkNothingIsLost(text);
    return undefined;
  } catch (error) {
    if (error instanceof MemoryError) return error;
    throw error;
  }
}
