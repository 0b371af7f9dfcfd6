import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import { Readable } from "node:stream";

/** From the end of our side of an HTTP/1 connection to its destruction, so that the answer arrives before a reset. */
const LINGER_MS = 1_000;

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

export interface UnreadLimits {
  /** Maximum number of bytes of a body that are read and dropped after its answer. */
  readonly unreadBytesMax: number;
  /** From the answer to the end of a call, or on HTTP/1 of a connection, whose body still goes on. */
  readonly unreadTimeoutMs: number;
}

/**
 * Reads and drops what a handler leaves of a request's body once the answer is out. Bytes that nobody
 * reads keep an HTTP/2 stream open for good, and after 100 of those its session refuses every call; they
 * also stop an HTTP/1 connection. A body that goes on beyond the limits ends its stream, or on HTTP/1
 * its connection. (Node itself drops the rest of an HTTP/1 body that nobody began to read, and counts
 * no bytes; the time still holds.)
 */
export function dropUnread(request: Request, response: Response, limits: UnreadLimits): void {
  // A reader that stops early would destroy the request, and then the rest can no longer be read.
  Object.assign(request, {
    [Symbol.asyncIterator]: () => Readable.prototype.iterator.call(request, { destroyOnReturn: false }),
  });
  // An HTTP/2 response of Node's says "finish" only when its stream has closed.
  const answer = "stream" in response ? response.stream : response;
  answer.once("finish", () => drop(request, response, limits));
}

function drop(request: Request, response: Response, { unreadBytesMax, unreadTimeoutMs }: UnreadLimits): void {
  if (request.readableEnded || request.destroyed) return;
  const { socket } = request;
  const timer = setTimeout(() => {
    if ("stream" in response) response.stream.close(constants.NGHTTP2_NO_ERROR);
    else endConnection(socket);
  }, unreadTimeoutMs);
  const stop = () => clearTimeout(timer);
  let bytes = 0;
  request.removeAllListeners("readable").removeAllListeners("data");
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    // Not ended at once: balancers lose an answer that is followed by a reset.
    if (bytes > unreadBytesMax) request.pause();
  });
  // A client that breaks off now has its answer.
  request.on("error", stop).once("end", stop).once("close", stop).resume();
}

/** Ends our side first: a socket that is destroyed with unread bytes is reset, and the answer may be lost. */
function endConnection(socket: IncomingMessage["socket"]): void {
  socket.end();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
