import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import { Readable } from "node:stream";

/**
 * Time from the end of our side of an HTTP/1 connection to its destruction. The answer must arrive before a
 * reset.
 */
const LINGER_MS = 1_000;

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

export interface UnreadLimits {
  /** Maximum number of bytes of answered calls that are read and dropped each second, of all connections. */
  readonly unreadBytesPerSecond: number;
  /** Time from the answer to the end of a call, or on HTTP/1 of a connection, whose body still goes on. */
  readonly unreadTimeoutMs: number;
}

/**
 * Reads and drops what handlers leave of requests' bodies once the answer is out. Bytes that no one reads
 * keep an HTTP/2 stream open for good, and after 100 of those its session refuses every call; they also stop
 * an HTTP/1 connection. A body that still goes on after a time ends its stream, or on HTTP/1 its connection;
 * not sooner, because balancers lose an answer that a reset follows at once.
 */
export class UnreadBodies {
  #leftBytes: number;
  #sinceMs = performance.now();

  constructor(private readonly limits: UnreadLimits) {
    this.#leftBytes = limits.unreadBytesPerSecond;
  }

  /** Watches a request; call it before the handler. */
  watch(request: Request, response: Response): void {
    // A reader that stops early would destroy the request, and then the rest can no longer be read.
    Object.assign(request, {
      [Symbol.asyncIterator]: () => Readable.prototype.iterator.call(request, { destroyOnReturn: false }),
    });
    // An HTTP/2 response of Node's emits "finish" only when its stream has closed.
    const answer = "stream" in response ? response.stream : response;
    answer.once("finish", () => this.#drop(request, response));
  }

  #drop(request: Request, response: Response): void {
    if (request.readableEnded || request.destroyed) return;
    const { socket } = request;
    const timer = setTimeout(() => {
      if ("stream" in response) response.stream.close(constants.NGHTTP2_NO_ERROR);
      else endConnection(socket);
    }, this.limits.unreadTimeoutMs);
    const stop = () => clearTimeout(timer);
    request.removeAllListeners("readable").removeAllListeners("data");
    // Node itself drops an HTTP/1 body that was never read, and tells nothing of its bytes.
    request.on("data", (chunk: Buffer) => {
      if (!this.#spend(chunk.length)) request.pause();
    });
    // A client that breaks off now has its answer.
    request.on("error", stop).once("end", stop).once("close", stop).resume();
  }

  #spend(bytes: number): boolean {
    const { unreadBytesPerSecond } = this.limits;
    const nowMs = performance.now();
    const flown = ((nowMs - this.#sinceMs) * unreadBytesPerSecond) / 1000;
    this.#sinceMs = nowMs;
    this.#leftBytes = Math.min(unreadBytesPerSecond, this.#leftBytes + flown) - bytes;
    return this.#leftBytes > 0;
  }
}

/** Ends our side first: a socket that is destroyed with unread bytes is reset, and the answer may be lost. */
function endConnection(socket: IncomingMessage["socket"]): void {
  socket.end();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
