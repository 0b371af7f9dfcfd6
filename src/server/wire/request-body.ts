import { setImmediate as nextIteration } from "node:timers/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { type DescMessage, fromBinary, type Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { encodeEnvelope, transformSplitEnvelope } from "@connectrpc/connect/protocol";
import { invalid, MemoryError } from "../../errors.js";
import { type Call, SMALL_BYTES_MAX } from "../call.js";
import type { Encoding } from "./content-type.js";
import { translated } from "./errors.js";
import { readingJson, readJson } from "./json-body.js";

const gunzipBytes = promisify(gunzip);

/** Size of what gRPC and gRPC-Web put before a message: a byte of flags and four of length. */
const ENVELOPE_BYTES = 5;
const COMPRESSED_FLAG = 1;
/** Bits of an envelope other than "compressed": the end of a stream, which is no message. */
const OTHER_FLAGS = 0b1111_1110;

/** Empty message, which Connect decodes in place of the one that was decoded here. */
const EMPTY = { json: Buffer.from("{}"), proto: Buffer.alloc(0) };

/** Factor for a body that is held as it came and decoded; the latter is taken to be as large. */
const DECODED_TIMES = 2;

/** Size from which a body is decoded in steps. */
const LONG_BYTES = 262_144;

/** Maximum number of bytes that one streaming call (health, reflection) sends, however long it lasts. */
const STREAM_BYTES_MAX = 65_536;

/** Maximum number of bodies unpacked at once. Each holds up to a whole body and one of zlib's four threads. */
const UNZIPS_MAX = 4;

/** Body that is read for a call. */
export interface Reading {
  /** Maximum size, before and after decompressing. */
  readonly bytesMax: number;
  /** Name of the compression, if any. */
  readonly compression: string | null;
  /** Call that holds what has arrived. */
  readonly call: Call;
}

/** Body of messages of one type. */
type Decoding = Reading & Encoding & { readonly message: DescMessage };

/**
 * Reads, checks and decodes the body of a unary call into the call's message. What cannot be read is the caller's
 * mistake, and Connect would call it a fault of the server. Yields an empty message in the place of the decoded
 * one, uncompressed, so that Connect repeats none of the work. An envelope that Connect refuses is yielded as it
 * came.
 *
 * @throws ConnectError when read: `invalid_argument`, `resource_exhausted` beyond `bytesMax`, or
 * `canceled` when the caller breaks off, or is cut off, before the end.
 */
export async function* decodedBody({
  message,
  codec,
  enveloped,
  ...reading
}: Decoding): AsyncGenerator<Uint8Array> {
  const { call, bytesMax } = reading;
  try {
    const bytes = await readAll(call, bytesMax + (enveloped ? ENVELOPE_BYTES : 0));
    const plain = await unwrap(bytes, { ...reading, enveloped });
    if (plain !== undefined) {
      holdUnpacked(call, bytes, plain);
      call.message = await decodeInSteps(plain, { message, codec });
    }
    yield plain === undefined ? bytes : emptied(bytes, { codec, enveloped });
  } catch (error) {
    call.error ??= error;
    throw translated(error);
  }
}

/**
 * Reads the body of a streaming call: its messages one by one, each checked before Connect decodes it. Yields
 * whole envelopes, unpacked.
 *
 * @throws ConnectError when read: `invalid_argument`, or `resource_exhausted` beyond `bytesMax`.
 */
export async function* checkedStream(
  body: AsyncIterable<Uint8Array>,
  { message, codec, call, ...options }: Decoding,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const { flags, data } of transformSplitEnvelope(options.bytesMax)(counted(body, call))) {
      const envelope = encodeEnvelope(flags, data);
      const plain = (flags & OTHER_FLAGS) === 0 ? await unwrap(envelope, options) : undefined;
      if (plain !== undefined) decode(plain, { message, codec });
      yield plain === undefined ? envelope : encodeEnvelope(0, plain);
    }
  } catch (thrown) {
    const error = explained(thrown, options.bytesMax);
    call.error ??= error;
    throw translated(error);
  }
}

/** Counts the bytes of a stream of messages while they are read. */
async function* counted(body: AsyncIterable<Uint8Array>, call: Call): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > STREAM_BYTES_MAX) throw tooLarge(STREAM_BYTES_MAX);
    call.hold(chunk.byteLength);
    yield chunk;
  }
}

/** Says in our words what Connect finds wrong with an envelope. */
function explained(error: unknown, bytesMax: number): unknown {
  const { code } = error instanceof ConnectError ? error : {};
  if (code === Code.ResourceExhausted) return tooLarge(bytesMax);
  return code === Code.InvalidArgument ? cutOff() : error;
}

/** Makes the headers describe the empty message. An envelope says itself that it is not compressed. */
export function emptyHeaders(header: Headers, { enveloped, compression }: Encoding): void {
  header.delete("content-length");
  if (enveloped || compression !== "gzip") return;
  header.delete("content-encoding");
  // Connect compresses its answer as the request was, unless the client says what it accepts.
  if (!header.get("accept-encoding")) header.set("accept-encoding", "gzip");
}

/** Reads and unpacks a whole body. @throws MemoryError, or ConnectError `canceled` or `unimplemented`. */
export async function readBody(reading: Reading): Promise<Uint8Array> {
  const { compression, bytesMax, call } = reading;
  if (compression !== null && compression !== "gzip") {
    const message = `unknown compression ${JSON.stringify(compression.slice(0, 64))}: supported encodings are gzip`;
    throw new ConnectError(message, Code.Unimplemented);
  }
  const bytes = await readAll(call, bytesMax);
  const plain = (await unwrap(bytes, { enveloped: false, compression, bytesMax })) as Uint8Array;
  holdUnpacked(call, bytes, plain);
  return plain;
}

/** Creates the error for a body over the limit. */
function tooLarge(bytesMax: number): MemoryError {
  const message = `the body is larger than ${bytesMax.toLocaleString("en-US")} bytes`;
  return new MemoryError("resource_exhausted", message, { reason: "BODY_TOO_LARGE" });
}

/** Reads the body of a call's request, by its events: an iterator costs a small body more than all the rest. */
function readAll(call: Call, bytesMax: number): Promise<Uint8Array> {
  const { request } = call;
  const said = call.headers["content-length"];
  const bytesSaid = said !== undefined && /^\d+$/.test(said) ? Number(said) : bytesMax;
  let all: Buffer = Buffer.alloc(0);
  let bytes = 0;
  const add = (chunk: Buffer) => {
    const end = bytes + chunk.byteLength;
    if (end > bytesMax) throw tooLarge(bytesMax);
    if (bytes <= SMALL_BYTES_MAX && end > SMALL_BYTES_MAX) call.beginBody(DECODED_TIMES * bytesSaid);
    // Only what has arrived counts for others: a header may announce anything.
    call.hold(DECODED_TIMES * chunk.byteLength);
    // Copied: a chunk is a slice of a larger buffer, which it would keep, and there may be one for each
    // byte.
    if (end > all.length) all = ensureCapacity(all, Math.max(end, Math.min(bytesSaid, 2 * all.length)));
    all.set(chunk, bytes);
    bytes = end;
  };
  return new Promise((resolve, reject) => {
    const stop = () => {
      request.off("data", onData).off("end", onEnd).off("error", onBreak).off("close", onBreak);
    };
    const refuse = (error: unknown) => {
      stop();
      // What follows is dropped when the answer is out.
      request.pause();
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      try {
        add(chunk);
      } catch (error) {
        refuse(error);
      }
    };
    const onEnd = () => {
      stop();
      resolve(all.subarray(0, bytes));
    };
    // The connection, or the stream of HTTP/2, ended in the middle.
    const onBreak = (error?: Error) =>
      refuse(new ConnectError("the call ended before its body", Code.Canceled, undefined, undefined, error));
    if (bytesSaid > bytesMax) reject(tooLarge(bytesMax));
    else if (request.destroyed || request.readableEnded) onBreak();
    else request.on("data", onData).on("end", onEnd).on("error", onBreak).on("close", onBreak);
  });
}

function ensureCapacity(old: Buffer, bytes: number): Buffer {
  const larger = Buffer.allocUnsafe(bytes);
  larger.set(old);
  return larger;
}

/** Counts the bytes that decompressing has added. */
function holdUnpacked(call: Call, bytes: Uint8Array, plain: Uint8Array): void {
  if (plain.buffer !== bytes.buffer) call.hold(DECODED_TIMES * plain.length);
}

/** Unpacks the message's bytes; undefined for envelopes and compressions that Connect itself refuses. */
async function unwrap(
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
function cutOff(): MemoryError {
  return invalid("body", "ends in the middle of a message");
}

async function unzip(bytes: Uint8Array, bytesMax: number): Promise<Uint8Array> {
  try {
    return await runUnzip(() => gunzipBytes(bytes, { maxOutputLength: bytesMax }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(bytesMax);
    throw invalid("body", "is not gzip, as its Content-Encoding (or grpc-encoding) says");
  }
}

/** Decodes a message like `decode`; a long one in JSON step by step, so that other work runs in between. */
export async function decodeInSteps(
  bytes: Uint8Array,
  options: Parameters<typeof decode>[1],
): Promise<Message> {
  if (options.codec !== "json" || bytes.length < LONG_BYTES) return decode(bytes, options);
  const steps = readingJson(options.message, bytes);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    await nextIteration();
  }
}

/**
 * Decodes a message. @throws MemoryError `invalid_argument`, with a text that names the field where it can.
 */
function decode(
  bytes: Uint8Array,
  { message, codec }: { readonly message: DescMessage; readonly codec: Encoding["codec"] },
): Message {
  return codec === "json" ? readJson(message, bytes) : readBinary(message, bytes);
}

/** Replaces a body's message by an empty one. Connect still judges flags other than "compressed". */
function emptied(bytes: Uint8Array, { codec, enveloped }: Pick<Encoding, "codec" | "enveloped">): Uint8Array {
  return enveloped ? encodeEnvelope((bytes[0] as number) & ~COMPRESSED_FLAG, EMPTY[codec]) : EMPTY[codec];
}

const unzips: Promise<unknown>[] = Array.from({ length: UNZIPS_MAX }, () => Promise.resolve());
let slot = 0;

/** Runs at most UNZIPS_MAX at a time: a small body may unpack to the largest. */
function runUnzip<T>(work: () => Promise<T>): Promise<T> {
  slot = (slot + 1) % UNZIPS_MAX;
  const done = (unzips[slot] as Promise<unknown>).then(work);
  // The caller gets the failure; the next body is unpacked all the same.
  unzips[slot] = done.catch(() => {});
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
