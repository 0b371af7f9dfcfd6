import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import { Readable } from "node:stream";
import { endSocket } from "./open-requests.js";

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

/**
 * Reads and drops what the handler leaves of a request's body once the answer is out; call it before the handler.
 * Bytes that no one reads keep an HTTP/2 stream open for good, and after 100 of those its session refuses every
 * call; they also stop an HTTP/1 connection. A body that still goes on after a time ends its stream, or on HTTP/1
 * its connection; not sooner, because balancers lose an answer that a reset follows at once.
 */
export function dropUnread(request: Request, response: Response, timeoutMs: number): void {
  if (!hasBody(request)) return;
  // A reader that stops early would destroy the request, and then the rest can no longer be read.
  Object.assign(request, {
    [Symbol.asyncIterator]: () => Readable.prototype.iterator.call(request, { destroyOnReturn: false }),
  });
  // An HTTP/2 response of Node's emits "finish" only when its stream has closed.
  const answer = "stream" in response ? response.stream : response;
  answer.once("finish", () => {
    if (request.readableEnded || request.destroyed) return;
    const { socket } = request;
    const timer = setTimeout(() => {
      if ("stream" in response) response.stream.close(constants.NGHTTP2_NO_ERROR);
      else endSocket(socket);
    }, timeoutMs);
    const stop = () => clearTimeout(timer);
    // A client that breaks off now has its answer.
    request.removeAllListeners("readable").removeAllListeners("data").on("error", stop);
    // Without a listener of data, one of "readable" that has just gone would still keep the stream from flowing.
    request
      .on("data", () => {})
      .once("end", stop)
      .once("close", stop)
      .resume();
  });
}

function hasBody(request: Request): boolean {
  if ("stream" in request) return !request.stream.endAfterHeaders;
  const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
  return length !== "0" || encoding !== undefined;
}
