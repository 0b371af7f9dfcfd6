import type { DescMessage } from "@bufbuild/protobuf";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import type { Call } from "../call.js";
import type { Encoding } from "./content-type.js";
import { translated } from "./errors.js";
import { cutOff, decode, ENVELOPE_BYTES, tooLarge, unwrap } from "./request-body.js";

/** Bits of an envelope other than "compressed": the end of a stream, which is no message. */
const OTHER_FLAGS = 0b1111_1110;

export interface StreamOptions extends Encoding {
  /** Type of each message. */
  readonly message: DescMessage;
  /** Maximum size of a message, before and after decompressing. */
  readonly bytesMax: number;
  /** Call that holds what has arrived. */
  readonly call: Call;
}

/** Maximum number of bytes that one streaming call (health, reflection) sends, however long it lasts. */
const STREAM_BYTES_MAX = 65_536;

/**
 * Reads the body of a streaming call: its messages one by one, each checked before Connect decodes it. Yields
 * whole envelopes, unpacked.
 *
 * @throws ConnectError when read: `invalid_argument`, or `resource_exhausted` beyond `bytesMax`.
 */
export async function* checkedStream(
  body: AsyncIterable<Uint8Array>,
  { message, codec, call, ...options }: StreamOptions,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const envelope of envelopesOf(counted(body, call), options.bytesMax)) {
      const isMessage = ((envelope[0] as number) & OTHER_FLAGS) === 0;
      const plain = isMessage ? await unwrap(envelope, options) : undefined;
      if (plain !== undefined) decode(plain, { message, codec });
      yield plain === undefined ? envelope : encodeEnvelope(0, plain);
    }
  } catch (error) {
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

async function* envelopesOf(body: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Uint8Array> {
  let chunks: Uint8Array[] = [];
  let [bytes, wanted] = [0, ENVELOPE_BYTES];
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes < wanted) continue;
    let rest = Buffer.concat(chunks);
    for (wanted = sizeOf(rest, bytesMax); rest.length >= wanted; wanted = sizeOf(rest, bytesMax)) {
      yield rest.subarray(0, wanted);
      rest = rest.subarray(wanted);
    }
    [chunks, bytes] = [[rest], rest.length];
  }
  if (bytes > 0) throw cutOff();
}

/** Computes the size of an envelope from its beginning. */
function sizeOf(start: Buffer, bytesMax: number): number {
  if (start.length < ENVELOPE_BYTES) return ENVELOPE_BYTES;
  const length = start.readUInt32BE(1);
  if (length > bytesMax) throw tooLarge(bytesMax);
  return ENVELOPE_BYTES + length;
}
