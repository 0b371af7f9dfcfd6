import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { type DescMessage, fromBinary, type Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { invalid, MemoryError } from "../../errors.js";
import type { Encoding } from "./content-type.js";
import { toConnectError } from "./errors.js";
import { readingJson, readJson, readPatch } from "./json-body.js";

const gunzipBytes = promisify(gunzip);

/** Size of what gRPC and gRPC-Web put before a message: a byte of flags and four of length. */
export const ENVELOPE_BYTES = 5;
const COMPRESSED_FLAG = 1;

/** Empty message, which Connect decodes in place of the one that was decoded here. */
const EMPTY = { json: Buffer.from("{}"), proto: Buffer.alloc(0) };

/** Factor for a body that is held as it came and decoded; the latter is taken to be as large. */
const DECODED_TIMES = 2;

/** Size that a body of unknown size is assumed to have; most are smaller. */
const FIRST_BYTES = 16_384;

/** Size from which a body is decoded in steps. */
const LONG_BYTES = 262_144;

/** Maximum number of bodies unpacked at once. Each holds up to a whole body and one of zlib's four threads. */
const UNZIPS_MAX = 4;

export interface BodyOptions extends Encoding {
  /** Type of the message. */
  readonly message: DescMessage;
  /** Fields of the resource that the body is a patch of; absent if the body is the request itself. */
  readonly patched?: Readonly<Record<string, string>> | undefined;
  /** Maximum size, before and after decompressing. */
  readonly bytesMax: number;
  /** Size by `Content-Length`. */
  readonly bytesSaid: number | undefined;
  /** Called with the decoded message before the body ends. */
  onMessage(message: Message): void;
  /** Called before the body is refused. */
  onRefused(error: MemoryError): void;
  /**
   * Called with the number of bytes that the call will hold, before it does; again when that changes.
   *
   * @throws MemoryError when there is no room for them.
   */
  claim(bytes: number): Promise<void>;
}

/**
 * Reads, checks and decodes the body of a unary call. What cannot be read is the caller's mistake, and
 * Connect would call it a fault of the server. Yields an empty message in the place of the decoded one,
 * uncompressed, so that Connect repeats none of the work. An envelope that Connect refuses is yielded as it came.
 *
 * @throws ConnectError when read: `invalid_argument`, `resource_exhausted` beyond `bytesMax`, or
 * `canceled` when the caller breaks off, or is cut off, before the end.
 */
export async function* decodedBody(
  body: AsyncIterable<Uint8Array>,
  { message, patched, codec, bytesMax, bytesSaid, onMessage, onRefused, claim, ...encoding }: BodyOptions,
): AsyncGenerator<Uint8Array> {
  try {
    const { enveloped } = encoding;
    const reading = { bytesMax: bytesMax + (enveloped ? ENVELOPE_BYTES : 0), bytesSaid, enveloped, claim };
    const bytes = await readAll(body, reading);
    const plain = await unwrap(bytes, { ...encoding, bytesMax });
    await claim(DECODED_TIMES * (bytes.length + unpacked(bytes, plain)));
    if (plain !== undefined) onMessage(await decodeInTurn(plain, { message, codec, patched }));
    yield plain === undefined ? bytes : emptied(bytes, { codec, enveloped });
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    onRefused(error);
    throw toConnectError(error);
  }
}

/** Reads and unpacks a body that is no message of an RPC. @throws like `decodedBody`, and MemoryError. */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  { compression, ...reading }: Pick<BodyOptions, "bytesMax" | "bytesSaid" | "claim" | "compression">,
): Promise<Uint8Array> {
  const bytes = await readAll(body, { ...reading, enveloped: false });
  const plain = await unwrap(bytes, { enveloped: false, compression, bytesMax: reading.bytesMax });
  await reading.claim(DECODED_TIMES * (bytes.length + unpacked(bytes, plain)));
  return plain ?? bytes;
}

/** Creates the error for a body over the limit. */
export function tooLarge(bytesMax: number): MemoryError {
  const message = `the body is larger than ${bytesMax.toLocaleString("en-US")} bytes`;
  return new MemoryError("resource_exhausted", message, { reason: "BODY_TOO_LARGE" });
}

interface Reading extends Pick<BodyOptions, "bytesMax" | "bytesSaid" | "enveloped" | "claim"> {}

async function readAll(body: AsyncIterable<Uint8Array>, reading: Reading): Promise<Uint8Array> {
  const { bytesMax, bytesSaid, claim } = reading;
  if (bytesSaid !== undefined && bytesSaid > bytesMax) throw tooLarge(bytesMax);
  let room = bytesSaid ?? FIRST_BYTES;
  await claim(DECODED_TIMES * room);
  let all: Buffer = Buffer.alloc(0);
  let bytes = 0;
  try {
    for await (const chunk of body) {
      const end = bytes + chunk.byteLength;
      if (end > bytesMax) throw tooLarge(bytesMax);
      if (end > room) {
        room = Math.max(end, bytesExpected(bytes > 0 ? all : chunk, reading));
        await claim(DECODED_TIMES * room);
      }
      // Copied: a chunk is a slice of a larger piece, which it would keep, and there may be one for each
      // byte.
      if (end > all.length) all = grown(all, Math.min(room, Math.max(end, 2 * all.length)));
      all.set(chunk, bytes);
      bytes = end;
    }
  } catch (error) {
    // The connection, or the stream of HTTP/2, ended in the middle.
    if (error instanceof MemoryError) throw error;
    throw new ConnectError("the call ended before its body", Code.Canceled, undefined, undefined, error);
  }
  return all.subarray(0, bytes);
}

/** Estimates the size of a body of which only the beginning is known. */
function bytesExpected(head: Uint8Array, { enveloped, bytesMax }: Reading): number {
  if (!enveloped || head.length < ENVELOPE_BYTES) return bytesMax;
  const length = new DataView(head.buffer, head.byteOffset).getUint32(1);
  return Math.min(bytesMax, length + ENVELOPE_BYTES);
}

function grown(old: Buffer, bytes: number): Buffer {
  const larger = Buffer.allocUnsafe(bytes);
  larger.set(old);
  return larger;
}

/** Number of bytes that decompressing has added. */
function unpacked(bytes: Uint8Array, plain: Uint8Array | undefined): number {
  return plain === undefined || plain.buffer === bytes.buffer ? 0 : plain.length;
}

/** Unpacks the message's bytes; undefined for envelopes and compressions that Connect itself refuses. */
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

/** Creates the error for a body that ends too early. */
export function cutOff(): MemoryError {
  return invalid("body", "ends in the middle of a message");
}

async function unzip(bytes: Uint8Array, bytesMax: number): Promise<Uint8Array> {
  try {
    return await inTurn(() => gunzipBytes(bytes, { maxOutputLength: bytesMax }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(bytesMax);
    throw invalid("body", "is not gzip, as its Content-Encoding (or grpc-encoding) says");
  }
}

/** Decodes a message like `decode`; a long one in JSON step by step, so that other work runs in between. */
async function decodeInTurn(bytes: Uint8Array, of: Parameters<typeof decode>[1]): Promise<Message> {
  if (of.codec !== "json" || of.patched !== undefined || bytes.length < LONG_BYTES) return decode(bytes, of);
  const steps = readingJson(of.message, bytes);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    await nextTurn();
  }
}

/**
 * Decodes a message. @throws MemoryError `invalid_argument`, with a text that names the field where it can.
 */
export function decode(
  bytes: Uint8Array,
  { message, codec, patched }: Pick<BodyOptions, "message" | "codec" | "patched">,
): Message {
  if (patched !== undefined) return readPatch(message, bytes, patched);
  return codec === "json" ? readJson(message, bytes) : readBinary(message, bytes);
}

/** Replaces a body's message by an empty one. Connect still judges flags other than "compressed". */
function emptied(bytes: Uint8Array, { codec, enveloped }: Pick<Encoding, "codec" | "enveloped">): Uint8Array {
  return enveloped ? encodeEnvelope((bytes[0] as number) & ~COMPRESSED_FLAG, EMPTY[codec]) : EMPTY[codec];
}

const unzips: Promise<unknown>[] = Array.from({ length: UNZIPS_MAX }, () => Promise.resolve());
let turn = 0;

/** Runs at most UNZIPS_MAX at a time: a small body may unpack to the largest. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  turn = (turn + 1) % UNZIPS_MAX;
  const done = (unzips[turn] as Promise<unknown>).then(work);
  unzips[turn] = done.catch(() => {});
  return done;
}

function readBinary(message: DescMessage, bytes: Uint8Array): Message {
  try {
    return fromBinary(message, bytes);
  } catch {
    // The decoder's own message speaks of offsets and wire types.
    throw invalid("body", `is not a well-formed ${message.name}: cut off, not UTF-8, or nested too deep`);
  }
}
