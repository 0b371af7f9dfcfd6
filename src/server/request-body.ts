import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { type DescMessage, fromBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { invalid, MemoryError } from "../errors.js";
import { toConnectError } from "./errors.js";
import { checkJson } from "./json-body.js";

const gunzipBytes = promisify(gunzip);

const TOO_LARGE = "BODY_TOO_LARGE";

/** gRPC and gRPC-Web put a byte of flags and four of length before a message. */
export const ENVELOPE_BYTES = 5;
const COMPRESSED_FLAG = 1;

/** How a request says that its body is written. */
export interface Encoding {
  readonly codec: "json" | "proto";
  readonly enveloped: boolean;
  /** The name of the compression, if any. */
  readonly compression: string | null;
}

export interface BodyOptions extends Encoding {
  /** What the body is to become. */
  readonly message: DescMessage;
  /** The limit, which holds before and after decompressing. */
  readonly bytesMax: number;
  /** Called before `resource_exhausted` is thrown. */
  onTooLarge(): void;
}

/**
 * The body of a unary call, checked before it is decoded: what cannot be read is the caller's
 * mistake, and Connect would call it a fault of ours. Yields the bytes as they came.
 *
 * @throws ConnectError when read: `invalid_argument`, `resource_exhausted` beyond `bytesMax`, or
 * `canceled` when the caller breaks off, or is cut off, before the end.
 */
export async function* checkedBody(
  body: AsyncIterable<Uint8Array>,
  { message, codec, bytesMax, onTooLarge, ...encoding }: BodyOptions,
): AsyncGenerator<Uint8Array> {
  try {
    const bytes = await readAll(body, bytesMax + (encoding.enveloped ? ENVELOPE_BYTES : 0));
    const plain = await unwrap(bytes, { ...encoding, bytesMax });
    if (plain !== undefined) checkMessage(plain, { message, codec });
    yield bytes;
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    if (error.reason === TOO_LARGE) onTooLarge();
    throw toConnectError(error);
  }
}

/** The error for a body over the limit. */
export function tooLarge(bytesMax: number): MemoryError {
  const message = `the body is larger than ${bytesMax.toLocaleString("en-US")} bytes`;
  return new MemoryError("resource_exhausted", message, { reason: TOO_LARGE });
}

async function readAll(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.byteLength;
      if (bytes > bytesMax) throw tooLarge(bytesMax);
      chunks.push(chunk);
    }
  } catch (error) {
    // The connection, or the stream of HTTP/2, ended in the midst.
    if (error instanceof MemoryError) throw error;
    throw new ConnectError("the call ended before its body", Code.Canceled, undefined, undefined, error);
  }
  return Buffer.concat(chunks);
}

/** The message's own bytes; undefined for envelopes and compressions that Connect refuses by itself. */
export async function unwrap(
  bytes: Uint8Array,
  { enveloped, compression, bytesMax }: { enveloped: boolean; compression: string | null; bytesMax: number },
): Promise<Uint8Array | undefined> {
  const zipped = compression === "gzip";
  if (!enveloped) return zipped ? unzip(bytes, bytesMax) : bytes;
  if (bytes.length === 0) return undefined;
  if (bytes.length < ENVELOPE_BYTES) throw cutOff();
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
  // Connect would refuse it too, but give no reason.
  if (length > bytesMax) throw tooLarge(bytesMax);
  const message = bytes.subarray(ENVELOPE_BYTES);
  if (length > message.length) throw cutOff();
  if (length < message.length) return undefined;
  if (((bytes[0] as number) & COMPRESSED_FLAG) === 0) return message;
  return zipped ? unzip(message, bytesMax) : undefined;
}

/** The error for a body that ends too early. */
export function cutOff(): MemoryError {
  return invalid("body", "ends in the middle of a message");
}

async function unzip(bytes: Uint8Array, bytesMax: number): Promise<Uint8Array> {
  try {
    return await gunzipBytes(bytes, { maxOutputLength: bytesMax });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(bytesMax);
    throw invalid("body", "is not gzip, as its Content-Encoding (or grpc-encoding) says");
  }
}

/** Refuses what cannot be decoded, in words of ours. @throws MemoryError `invalid_argument` */
export function checkMessage(
  bytes: Uint8Array,
  { message, codec }: { message: DescMessage; codec: Encoding["codec"] },
): void {
  if (codec === "json") checkJson(message, bytes);
  else checkBinary(message, bytes);
}

function checkBinary(message: DescMessage, bytes: Uint8Array): void {
  try {
    fromBinary(message, bytes);
  } catch {
    // Not the decoder's own message: it speaks of offsets and wire types.
    throw invalid("body", `is not a well-formed ${message.name}: cut off, not UTF-8, or nested too deep`);
  }
}
