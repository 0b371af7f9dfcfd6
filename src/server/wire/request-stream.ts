import type { DescMessage } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { encodeEnvelope, transformSplitEnvelope } from "@connectrpc/connect/protocol";
import type { Call } from "../call.js";
import type { Encoding } from "./content-type.js";
import { translated } from "./errors.js";
import { cutOff, decode, tooLarge, unwrap } from "./request-body.js";

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
