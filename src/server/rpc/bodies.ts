import type { Message } from "@bufbuild/protobuf";
import { createContextKey, createContextValues, type Interceptor } from "@connectrpc/connect";
import type {
  UniversalHandler,
  UniversalServerRequest,
  UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { type Encoding, encodingOf } from "../wire/content-type.js";
import { toConnectError, translated } from "../wire/errors.js";
import { decodedBody, tooLarge } from "../wire/request-body.js";
import { checkedStream } from "../wire/request-stream.js";
import { type Reservation, reservationOf } from "./body-room.js";

/** Maximum number of bytes that one streaming call (health, reflection) sends, however long it lasts. */
const STREAM_BYTES_MAX = 65_536;

/** Error that a call ended with, as it was thrown. */
export const refusalKey = createContextKey<unknown>(undefined, { description: "refusal" });

/** Decoded message of a call; of a unary one set while its body is read. */
export const messageKey = createContextKey<Message | undefined>(undefined, { description: "message" });

/** Fields of the resource that the body is a JSON merge patch of; set where a path serves patches. */
export const patchedKey = createContextKey<Readonly<Record<string, string>> | undefined>(undefined, {
  description: "patched resource",
});

/** Hands the decoded message to the call, which got an empty one from Connect. */
export const handMessage: Interceptor = (next) => (request) => {
  const message = request.contextValues.get(messageKey);
  return message === undefined || request.stream ? next(request) : next({ ...request, message });
};

/**
 * Reads bodies strictly, after the gate. The router needs the interceptor `handMessage`; `tooLargeStatus`
 * replaces Connect's own status.
 */
export function strict(
  handler: UniversalHandler,
  { bytesMax, tooLargeStatus }: { bytesMax: number; tooLargeStatus?: number },
): UniversalHandler {
  const { input: message, methodKind } = handler.method;
  const read = async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    const encoding = encodingOf(request.header);
    if (encoding === undefined) return handler(request);
    const options = { message, ...encoding, bytesMax };
    const bytes = request.body as AsyncIterable<Uint8Array>;
    if (methodKind !== "unary") {
      return handler({ ...request, body: checkedStream(countedBody(request, bytes), options) });
    }
    const { header, contextValues = createContextValues() } = request;
    let large = false;
    const body = decodedBody(bytes, {
      ...options,
      patched: contextValues.get(patchedKey),
      bytesSaid: bytesSaid(header),
      claim: claimOf(request),
      onMessage: (decoded) => contextValues.set(messageKey, decoded),
      onRefused: (error) => {
        contextValues.set(refusalKey, error);
        large = error.reason === "BODY_TOO_LARGE";
      },
    });
    describeDecoded(header, encoding);
    const response = await handler({ ...request, contextValues, body });
    return large && tooLargeStatus !== undefined ? { ...response, status: tooLargeStatus } : response;
  };
  return Object.assign(read, handler);
}

/** Makes the headers describe the body that Connect gets. An envelope says itself that it is not compressed. */
function describeDecoded(header: Headers, { enveloped, compression }: Encoding): void {
  header.delete("content-length");
  if (enveloped || compression !== "gzip") return;
  header.delete("content-encoding");
  // Connect compresses its answer as the request was, unless the client says what it accepts.
  if (!header.get("accept-encoding")) header.set("accept-encoding", "gzip");
}

/**
 * Takes room for a request's body. The reservation is opened with the first claim, when the gate has found
 * whose it is.
 */
function claimOf({ contextValues }: UniversalServerRequest): (bytes: number) => Promise<void> {
  let place: Reservation | undefined;
  return (bytes) => {
    place ??= reservationOf(contextValues ?? createContextValues());
    return place.resize(bytes);
  };
}

/** Counts the bytes of a stream of messages while they are read. */
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
