import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { create, type DescMessage, fromBinary, type Message, mergeFromBinary } from "@bufbuild/protobuf";
import { BinaryReader, base64Decode, WireType } from "@bufbuild/protobuf/wire";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { transformSplitEnvelope } from "@connectrpc/connect/protocol";
import { Buckets, type Rate } from "../concurrency/bucket.js";
import { Budget } from "../concurrency/budget.js";
import { serialQueue } from "../concurrency/serial-queue.js";
import { TimeSlice } from "../concurrency/time-slices.js";
import { FairQueue, yieldToEventLoop } from "../concurrency/yield-to-event-loop.js";
import { invalid, MemoryError, safeName } from "../errors.js";
import { isObject } from "../memory/requests/metadata.js";
import { CALL_TIMEOUT_MS, type Call, SMALL_BYTES_MAX } from "./call.js";
import type { Encoding } from "./content-type.js";
import { readJson } from "./json.js";
import {
  ELEMENT_SIZE_MAX,
  ELEMENTS_MAX,
  elementTooLarge,
  LONG_BYTES,
  parseLossless,
  textOf,
  tooMany,
} from "./json-text.js";
import { CHUNK_BYTES_MIN, isTooManyChunks } from "./listen/open-requests.js";

const gunzipBytes = promisify(gunzip);

/** Size of what gRPC and gRPC-Web put before a message: a byte of flags and four of length. */
const ENVELOPE_BYTES = 5;
const COMPRESSED_FLAG = 1;

/** Factor for a body that is held as it came and decoded; the latter is taken to be as large. */
const DECODED_TIMES = 2;

/**
 * Maximum size of a Struct: a filter of 65,536 bytes of JSON, of which Protobuf makes 5.5 bytes for one in a list of
 * digits. More would hold the thread while they are decoded in one step.
 */
const STRUCT_BYTES_MAX = 393_216;

/** Maximum number of bytes that one streaming call (health, reflection) sends, however long it lasts. */
const STREAM_BYTES_MAX = 65_536;

/** Rate of messages of a network's streams that need no key: each question of reflection may have a large answer. */
export const STREAMED_RATE: Rate = Object.freeze({ perSecond: 50, burst: 100 });
const streamed = new Buckets(STREAMED_RATE);
/** Turns of those messages by network: a stream's first bytes may hold thousands, which would be answered in one go. */
const streamedTurns = new FairQueue(2);

const TOO_MANY_CHUNKS = `comes in too many small chunks: send at least ${CHUNK_BYTES_MIN} bytes in each`;

/**
 * Maximum number of bodies unpacked at once. Each holds up to a whole body and one of Node's four threads; the others
 * are for answers and files.
 */
const UNZIPS_MAX = 2;
/** Bytes that are unpacked before the main thread has to take them. With Node's 16 KiB, a body waits for it 512 times. */
const UNZIP_CHUNK_BYTES = 262_144;

/** Messages that a call sends. */
export interface Messages {
  readonly message: DescMessage;
  readonly encoding: Encoding;
  /** Maximum size of each, before and after decompressing. */
  readonly bytesMax: number;
}

/**
 * Reads and decodes the message of a unary call.
 *
 * @throws MemoryError `invalid_argument`, `resource_exhausted` beyond `bytesMax`, or ConnectError, such as `canceled`
 * when the caller breaks off, or is cut off, before the end.
 */
export async function readMessage(call: Call, messages: Messages): Promise<Message> {
  const { message, encoding, bytesMax } = messages;
  if (!encoding.enveloped) return decodeBody(await readBody(call, bytesMax), messages);
  const bytes = await readAll(call, bytesMax, ENVELOPE_BYTES);
  const plain = await unpackEnvelope(call, bytes, messages);
  return decodeBody(plain, { message, encoding });
}

/**
 * Reads and decodes the message in the query of Connect's GET requests.
 *
 * @throws MemoryError `invalid_argument`, or `resource_exhausted` beyond `bytesMax`.
 */
export async function readQueryMessage(call: Call, messages: Messages): Promise<Message> {
  const query = readQuery(call.request.url ?? "");
  const text = query.get("message") ?? "";
  const bytes = query.get("base64") === "1" ? fromBase64(text) : Buffer.from(text);
  const isCompressed = query.get("compression") === "gzip";
  return decodeBody(isCompressed ? await unzip(call, bytes, messages.bytesMax) : bytes, messages);
}

function fromBase64(text: string): Uint8Array {
  try {
    return base64Decode(text);
  } catch {
    throw invalid("body", "is not base64, as its query says");
  }
}

/** Reads and decodes the messages of a streaming call, one by one. @throws as `readMessage` does. */
export async function* readMessages(call: Call, messages: Messages): AsyncGenerator<Message> {
  const { bytesMax } = messages;
  try {
    for await (const { flags, data } of transformSplitEnvelope(bytesMax)(countedChunks(call))) {
      if (isEndOfStream(flags)) continue;
      if (call.principal === undefined) {
        streamed.check(call.network, "too many messages of streams come from this address");
        streamed.take(call.network);
        await streamedTurns.wait(call.network);
        if (call.abortReason !== undefined) throw call.abortReason;
      }
      yield await decodeBody(await unpack(call, { flags, data }, messages), messages);
    }
  } catch (error) {
    throw streamErrorOf(error, call, bytesMax);
  }
}

/** Chunks of a stream of messages, whose bytes the call holds and which are limited altogether. */
async function* countedChunks(call: Call): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of call.request as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > STREAM_BYTES_MAX) throw tooLarge(STREAM_BYTES_MAX);
    call.hold(chunk.byteLength);
    yield chunk;
  }
}

/** Translates an error of reading a stream: its client has left, or an envelope is malformed. */
function streamErrorOf(error: unknown, { request }: Call, bytesMax: number): unknown {
  const hasLeft = (error as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE";
  if (hasLeft || error === request.errored) return disconnected(error);
  const { code } = error instanceof ConnectError ? error : {};
  if (code === Code.ResourceExhausted) return tooLarge(bytesMax);
  return code === Code.InvalidArgument ? truncated() : error;
}

/** Reads and unpacks a whole body. @throws as `readMessage` does. */
export async function readBody(call: Call, bytesMax: number): Promise<Uint8Array> {
  const compression = call.headers["content-encoding"];
  if (compression !== undefined && compression !== "gzip") {
    const message = `unknown compression ${JSON.stringify(compression.slice(0, 64))}: supported encodings are gzip`;
    throw new ConnectError(message, Code.Unimplemented);
  }
  const bytes = await readAll(call, bytesMax);
  return compression === undefined ? bytes : unzip(call, bytes, bytesMax);
}

/** Reads a body as an object of JSON. @throws as `readMessage` does. */
export async function readObject(call: Call, bytesMax: number): Promise<Readonly<Record<string, unknown>>> {
  const value = parseLossless(textOf(await readBody(call, bytesMax)));
  if (!isObject(value)) throw invalid("body", "is not a JSON object");
  return value;
}

/**
 * Reads the names and values of a URL's query, in their order. `URLSearchParams` is not used: it reads bytes that are
 * not UTF-8 as U+FFFD, so that two values become one.
 *
 * @throws MemoryError `invalid_argument`, also for a name that comes twice.
 */
export function readQuery(url: string): Map<string, string> {
  const query = new Map<string, string>();
  const start = url.indexOf("?");
  if (start === -1) return query;
  for (const pair of url.slice(start + 1).split("&")) {
    if (pair === "") continue;
    const [encoded = "", ...value] = pair.split("=");
    const name = decodePercent(encoded);
    if (query.has(name)) throw invalid(safeName(name), "is given twice");
    query.set(name, decodePercent(value.join("=")));
  }
  return query;
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw invalid("query", "is not percent-encoded UTF-8");
  }
}

function tooLarge(bytesMax: number): MemoryError {
  const message = `the body is larger than ${bytesMax.toLocaleString("en-US")} bytes`;
  return new MemoryError("resource_exhausted", message, { reason: "BODY_TOO_LARGE" });
}

/**
 * Reads the body of a call's request, by its events: an iterator would cost a small body more than all the rest. The
 * body may have `envelopeBytes` on top of its maximum.
 */
function readAll(call: Call, bodyBytesMax: number, envelopeBytes = 0): Promise<Uint8Array> {
  const bytesMax = bodyBytesMax + envelopeBytes;
  const { request } = call;
  const announced = call.headers["content-length"];
  const announcedBytes = announced !== undefined && /^\d+$/.test(announced) ? Number(announced) : bytesMax;
  let all: Buffer = Buffer.alloc(0);
  let bytes = 0;
  let chunks = 0;
  const add = (chunk: Buffer) => {
    const end = bytes + chunk.byteLength;
    if (end > bytesMax) throw tooLarge(bodyBytesMax);
    if (isTooManyChunks(++chunks, end)) throw invalid("body", TOO_MANY_CHUNKS);
    if (bytes <= SMALL_BYTES_MAX && end > SMALL_BYTES_MAX) call.beginBody(DECODED_TIMES * announcedBytes);
    // Only what has arrived counts for others: a header may announce anything.
    call.hold(DECODED_TIMES * chunk.byteLength);
    // Copied: a chunk is a slice of a larger buffer, which would stay in memory, perhaps for a single byte.
    if (end > all.length) all = Buffer.concat([all], Math.max(end, Math.min(announcedBytes, 2 * all.length)));
    all.set(chunk, bytes);
    bytes = end;
  };
  return new Promise((resolve, reject) => {
    const stop = () => {
      request.off("data", onData).off("end", onEnd).off("error", onBreak).off("close", onBreak);
    };
    const refuse = (error: unknown) => {
      stop();
      // The rest of the body is dropped after the answer, but the client may send another body before that.
      request.pause();
      call.releaseBytes();
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      try {
        add(chunk);
      } catch (error) {
        refuse(error);
      }
    };
    const onEnd = async () => {
      stop();
      // Decoding a large body takes milliseconds, and many bodies may end in one iteration of the event loop.
      if (bytes > SMALL_BYTES_MAX) await yieldToEventLoop();
      resolve(all.subarray(0, bytes));
    };
    // The connection, or the stream of HTTP/2, ended in the middle.
    const onBreak = (error?: Error) => refuse(disconnected(error));
    if (announcedBytes > bytesMax) reject(tooLarge(bodyBytesMax));
    else if (request.destroyed || request.readableEnded) onBreak();
    else request.on("data", onData).on("end", onEnd).on("error", onBreak).on("close", onBreak);
  });
}

function disconnected(cause: unknown): ConnectError {
  return new ConnectError("the call ended before its body", Code.Canceled, undefined, undefined, cause);
}

/** Unpacks the one message of a unary call. */
function unpackEnvelope(call: Call, bytes: Uint8Array, messages: Messages): Promise<Uint8Array> | Uint8Array {
  if (bytes.length === 0) throw wrongMessageCount("missing input message");
  if (bytes.length < ENVELOPE_BYTES) throw truncated();
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
  if (length > messages.bytesMax) throw tooLarge(messages.bytesMax);
  const data = bytes.subarray(ENVELOPE_BYTES);
  if (length > data.length) throw truncated();
  if (length < data.length) throw wrongMessageCount("received extra input message");
  const flags = bytes[0] as number;
  if (isEndOfStream(flags)) throw new ConnectError("unexpected end flag", Code.InvalidArgument);
  return unpack(call, { flags, data }, messages);
}

/** The error that Connect itself gives for no message, or several. */
function wrongMessageCount(what: string): ConnectError {
  return new ConnectError(`protocol error: ${what} for unary method`, Code.Unimplemented);
}

/** Unpacks the message of an envelope. */
function unpack(
  call: Call,
  { flags, data }: { readonly flags: number; readonly data: Uint8Array },
  { bytesMax }: Messages,
): Promise<Uint8Array> | Uint8Array {
  if ((flags & COMPRESSED_FLAG) === 0) return data;
  const { "grpc-encoding": grpc, "connect-content-encoding": compression = grpc } = call.headers;
  if (compression === "gzip") return unzip(call, data, bytesMax);
  // As Connect itself words it.
  const message = "received compressed envelope, but do not know how to decompress";
  throw new ConnectError(message, Code.Internal);
}

/** True for the flags of an envelope that ends a stream: it holds no message. */
function isEndOfStream(flags: number): boolean {
  return (flags & ~COMPRESSED_FLAG) !== 0;
}

/** The error for a body that ends too early, although its sender has not gone. */
function truncated(): MemoryError {
  return invalid("body", "ends in the middle of a message");
}

/** Limits how many bodies are decompressed at once. A call's own timeout ends its wait before this one does. */
const unzipBudget = new Budget({
  max: UNZIPS_MAX,
  waitingMax: Number.POSITIVE_INFINITY,
  waitMs: CALL_TIMEOUT_MS,
  what: "compressed bodies",
});
/** Lets an owner have one body decompressed at a time, so that none keeps others from it. */
const enqueueUnzip = serialQueue();

/** Decompresses, at most UNZIPS_MAX at a time: a small body may unpack to the largest. */
function unzip(call: Call, bytes: Uint8Array, bytesMax: number): Promise<Uint8Array> {
  const work = async () => {
    // The call ended while it was queued.
    if (call.abortReason !== undefined) throw call.abortReason;
    const options = { maxOutputLength: bytesMax, chunkSize: UNZIP_CHUNK_BYTES };
    const plain = await gunzipBytes(bytes, options).catch((error) => {
      if (error.code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(bytesMax);
      throw invalid("body", "is not gzip, as its Content-Encoding (or grpc-encoding) says");
    });
    call.hold(DECODED_TIMES * plain.length);
    return plain;
  };
  return enqueueUnzip(() => unzipBudget.run(1, work), call.owner);
}

/**
 * Decodes a body; a long one step by step, so that other work runs in between.
 *
 * @throws MemoryError `invalid_argument`, with a text that names the field where it can
 */
export function decodeBody(
  bytes: Uint8Array,
  { message, encoding }: Pick<Messages, "message" | "encoding">,
): Promise<Message> | Message {
  if (encoding.codec === "json") return readJson(message, bytes);
  if (bytes.length >= LONG_BYTES) return readLongBinary(message, bytes);
  try {
    return fromBinary(message, bytes, BINARY_OPTIONS);
  } catch {
    throw notWellFormed(message);
  }
}

/** Fields of a message that are read before other work may run. */
const SLICE_FIELDS = 1_024;

/**
 * Decodes a long body of Protobuf in pieces, which are merged into one message: each message of its lists is the end of
 * one, and a long message is decoded in pieces as well.
 *
 * @throws MemoryError `invalid_argument` as `decodeBody`, or for a list that is longer than any may be
 */
async function readLongBinary(message: DescMessage, bytes: Uint8Array): Promise<Message> {
  const fieldsByNumber = new Map(message.fields.map((field) => [field.number, field]));
  const decoded = create(message) as Message & Record<string, Message[]>;
  const timeSlice = new TimeSlice();
  let [merged, structBytes] = [0, 0];
  const mergeUpTo = (end: number) => {
    mergeFromBinary(message, decoded, bytes.subarray(merged, end), BINARY_OPTIONS);
    merged = end;
  };
  try {
    const reader = new BinaryReader(bytes);
    for (let read = 1; reader.pos < reader.len; read++) {
      const from = reader.pos;
      const [number, wireType] = reader.tag();
      // `skip` would return the length as well, which is no part of the message.
      const content = wireType === WireType.LengthDelimited ? reader.bytes() : reader.skip(wireType, number);
      const { name = "", localName = "", fieldKind, message: inner } = fieldsByNumber.get(number) ?? {};
      if (inner?.typeName === StructSchema.typeName) structBytes += reader.pos - from;
      if (structBytes > STRUCT_BYTES_MAX) throw invalid(name, "is larger than any may be");
      const list = fieldKind === "list" && inner !== undefined ? decoded[localName] : undefined;
      if (list === undefined && read % SLICE_FIELDS !== 0) continue;
      if (list !== undefined && content.length > ELEMENT_SIZE_MAX) throw elementTooLarge(name);
      if (list !== undefined && content.length >= LONG_BYTES) {
        mergeUpTo(from);
        list.push(await readLongBinary(inner as DescMessage, content));
        merged = reader.pos;
      } else mergeUpTo(reader.pos);
      if (list !== undefined && list.length > ELEMENTS_MAX) throw tooMany(name);
      await timeSlice.endIfOver();
    }
    mergeUpTo(reader.pos);
    return decoded;
  } catch (error) {
    throw error instanceof MemoryError ? error : notWellFormed(message);
  }
}

/** Unknown fields are dropped: nothing reads them, and millions of them would take much memory. */
const BINARY_OPTIONS = { readUnknownFields: false };

/** The error for malformed Protobuf, in place of the decoder's, which speaks of offsets and wire types. */
function notWellFormed({ name }: DescMessage): MemoryError {
  return invalid("body", `is not a well-formed ${name}: cut off, not UTF-8, or nested too deep`);
}
