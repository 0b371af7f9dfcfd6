import { createContextValues } from "@connectrpc/connect";
import type {
  UniversalHandler,
  UniversalServerRequest,
  UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { encodingOf } from "../wire/content-type.js";
import { toConnectError, translated } from "../wire/errors.js";
import { refusing } from "../wire/plain-errors.js";
import { checkedBody, ENVELOPE_BYTES, tooLarge } from "../wire/request-body.js";
import { checkedStream } from "../wire/request-stream.js";
import { type Reservation, reservationOf } from "./body-room.js";

/** Of all that a call of health or reflection sends, however long it lasts. */
const STREAM_BYTES_MAX = 65_536;

/** Checks a body while it is read, behind the gate; `tooLargeStatus` replaces Connect's own. */
export function strict(
  handler: UniversalHandler,
  { bytesMax, tooLargeStatus }: { bytesMax: number; tooLargeStatus?: number },
): UniversalHandler {
  const { input: message, methodKind } = handler.method;
  const checked = async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    const encoding = encodingOf(request.header);
    if (encoding === undefined) return handler(request);
    const options = { message, ...encoding, bytesMax };
    if (methodKind !== "unary") {
      const stream = countedBody(request, request.body as AsyncIterable<Uint8Array>);
      return handler({ ...request, body: checkedStream(stream, options) });
    }
    let large = false;
    const onTooLarge = () => {
      large = true;
    };
    const claiming = { bytesSaid: bytesSaid(request.header), claim: claimOf(request) };
    const body = checkedBody(bodyOf(request, options), { ...options, onTooLarge, ...claiming });
    const response = await handler({ ...request, body });
    return large && tooLargeStatus !== undefined ? { ...response, status: tooLargeStatus } : response;
  };
  return Object.assign(checked, handler);
}

/** The body as it comes, or its refusal when it says itself that it is too large: Connect's would have no reason. */
function bodyOf(
  { header, body }: UniversalServerRequest,
  { enveloped, bytesMax }: { enveloped: boolean; bytesMax: number },
): AsyncIterable<Uint8Array> {
  const bytes = Number(header.get("content-length"));
  header.delete("content-length");
  const isTooLarge = bytes > bytesMax + (enveloped ? ENVELOPE_BYTES : 0);
  return isTooLarge ? refusing(tooLarge(bytesMax)) : (body as AsyncIterable<Uint8Array>);
}

/** Takes room for a request's body; opened with the first claim, when the gate has said whose it is. */
function claimOf({ contextValues }: UniversalServerRequest): (bytes: number) => Promise<void> {
  let place: Reservation | undefined;
  return (bytes) => {
    place ??= reservationOf(contextValues ?? createContextValues());
    return place.resize(bytes);
  };
}

/** Counts the bytes of a stream of messages, whoever reads them. */
async function* countedBody(
  request: UniversalServerRequest,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const claim = claimOf(request);
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > STREAM_BYTES_MAX) throw toConnectError(tooLarge(STREAM_BYTES_MAX));
    await claim(bytes).catch((error) => Promise.reject(translated(error)));
    yield chunk;
  }
}

function bytesSaid(header: Headers): number | undefined {
  const said = header.get("content-length");
  return said === null || !/^\d+$/.test(said) ? undefined : Number(said);
}
