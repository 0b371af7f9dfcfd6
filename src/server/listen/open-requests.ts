import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { TLSSocket } from "node:tls";
import { callEvery } from "../../concurrency/every.js";
import type { ConnectionCounts, OnePortLimits } from "./one-port-limits.js";

/** Time between two looks at the requests. */
const CHECK_MS = 1_000;

/** Time from the end of our side of a connection to its destruction. The other side may never end. */
export const LINGER_MS = 1_000;

/**
 * Chunks that a body may come in, and bytes for each further one: a chunk costs the main thread more than a microsecond
 * however small it is, and a body in chunks of one byte would hold it for seconds.
 */
export const CHUNKS_MAX = 4_096;
export const CHUNK_BYTES_MIN = 64;

/** Those of a body that nobody reads. */
const DROPPED_CHUNKS_MAX = 256;

/** True if a body comes in more chunks than its bytes need. */
export function isTooManyChunks(chunks: number, bytes: number, max = CHUNKS_MAX): boolean {
  return chunks > max + bytes / CHUNK_BYTES_MIN;
}

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

interface OpenRequest {
  readonly request: Request;
  readonly response: Response;
  readonly begunMs: number;
  /** Time at which bytes of the answer began to wait; undefined while none do. */
  waitingSinceMs: number | undefined;
  /** Socket of an HTTP/1 connection; undefined on HTTP/2. */
  readonly socket: Socket | undefined;
  /** Functions to call at the end; undefined once they were called. */
  onEnd: (() => void)[] | undefined;
}

declare module "node:http" {
  interface IncomingMessage {
    /** State of the request while it is open; absent if no one-port server has taken it. */
    opened?: OpenRequest;
  }
}

/**
 * Calls back once when the answer to a request was handed to the system to the last byte, or no client waits for
 * it any more; at once if that is so, or if no one-port server has taken the request.
 */
export function onTaken(request: IncomingMessage, run: () => void): void {
  const onEnd = request.opened?.onEnd;
  if (onEnd === undefined) run();
  else onEnd.push(run);
}

/** Ends an HTTP/1 connection behind the answer to a request. */
export function closeAfter(request: IncomingMessage): void {
  const response = request.opened?.response;
  if (response?.headersSent === false) response.setHeader("connection", "close");
  onTaken(request, () => endSocket(request.socket));
}

/** Ends our side first: a socket that is destroyed with unread bytes is reset, and the answer may be lost. */
export function endSocket(socket: Socket): void {
  socket.end();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/** Ends a connection at once, by a reset: it must not linger. Node cannot reset one over TLS, and closes it. */
export function cutSocket(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

/**
 * Reads and drops what the handler leaves of a request's body once the answer is out; call it before the handler.
 * Bytes that no one reads keep an HTTP/2 stream open for good, and after 100 of those its session refuses every
 * call; they also stop an HTTP/1 connection. A body that still goes on after a time ends its stream, or on HTTP/1
 * its connection; not sooner, because balancers lose an answer that a reset follows at once. One in too many chunks ends
 * it then: to drop them costs as much as to read them.
 */
export function dropUnread(request: Request, response: Response, timeoutMs: number): void {
  if (!hasBody(request)) return;
  // A reader that stops early would destroy the request, and then the rest can no longer be read.
  Object.assign(request, {
    [Symbol.asyncIterator]: () => Readable.prototype.iterator.call(request, { destroyOnReturn: false }),
  });
  // An HTTP/2 response of Node's emits "finish" only when its stream has closed.
  const answer = "stream" in response ? response.stream : response;
  // Before Node's own listener on HTTP/1, which would drop a body that nobody has read without telling of its chunks.
  answer.prependOnceListener("finish", () => {
    if (request.readableEnded || request.destroyed) return;
    const { socket } = request;
    const end = () => {
      if ("stream" in response) response.stream.close(constants.NGHTTP2_NO_ERROR);
      else endSocket(socket);
    };
    const timer = setTimeout(end, timeoutMs);
    const stop = () => clearTimeout(timer);
    // A client that breaks off now has its answer.
    request.removeAllListeners("readable").removeAllListeners("data").on("error", stop);
    // Without a listener of data, one of "readable" that has just gone would still keep the stream from flowing.
    let [chunks, bytes] = [0, 0];
    request
      .on("data", ({ byteLength }) => {
        bytes += byteLength;
        if (!isTooManyChunks(++chunks, bytes, DROPPED_CHUNKS_MAX)) return;
        request.pause();
        end();
      })
      .once("end", stop)
      .once("close", stop)
      .resume();
  });
}

/** True if the request has a body, or announces one. */
export function hasBody(request: Request): boolean {
  if ("stream" in request) return !request.stream.endAfterHeaders;
  const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
  return length !== "0" || encoding !== undefined;
}

/**
 * Watches requests under way, and cuts off clients that do not take their answers, or on HTTP/2 do not send what
 * they have begun. Bytes that wait to be read are held in memory, and Node's own timeouts look at connections,
 * which one byte now and then satisfies. Clients that send request upon request without waiting for an answer are
 * cut off too.
 */
export class OpenRequests {
  readonly #open = new Set<OpenRequest>();
  /** Responses under way by HTTP/1 connection: Node forgets the ones that queue when it closes. */
  readonly #queues = new Map<Socket, Set<OpenRequest>>();
  readonly close = callEvery(CHECK_MS, () => this.#check());

  constructor(
    private readonly limits: Pick<OnePortLimits, "answerTimeoutMs" | "pipelinedMax" | "requestTimeoutMs">,
    private readonly counts: Pick<ConnectionCounts["cutOff"], "answer" | "pipelining" | "request">,
  ) {}

  /** Begins to watch a request; returns false if it may not be served. */
  begin(request: Request, response: Response): boolean {
    const socket = "stream" in response ? undefined : request.socket;
    const begunMs = performance.now();
    const open = { request, response, begunMs, waitingSinceMs: undefined, socket, onEnd: [] };
    if (socket !== undefined && !this.#queue(socket, open)) return false;
    this.#open.add(open);
    (request as IncomingMessage).opened = open;
    response.once("close", () => this.#end(open));
    return true;
  }

  #queue(socket: Socket, open: OpenRequest): boolean {
    if (socket.destroyed) return false;
    const queue = this.#queues.get(socket) ?? new Set();
    if (queue.size >= this.limits.pipelinedMax) {
      this.counts.pipelining += 1;
      socket.destroy();
      return false;
    }
    if (!this.#queues.has(socket)) {
      this.#queues.set(socket, queue);
      socket.once("close", () => this.#forget(socket));
    }
    queue.add(open);
    return true;
  }

  #forget(socket: Socket): void {
    for (const open of this.#queues.get(socket) ?? []) this.#end(open);
    this.#queues.delete(socket);
  }

  #end(open: OpenRequest): void {
    this.#open.delete(open);
    if (open.socket !== undefined) this.#queues.get(open.socket)?.delete(open);
    const { onEnd = [] } = open;
    open.onEnd = undefined;
    for (const run of onEnd) run();
  }

  #check(): void {
    const now = performance.now();
    const { answerTimeoutMs, requestTimeoutMs } = this.limits;
    for (const open of this.#open) {
      if (waiting(open.response) === 0) open.waitingSinceMs = undefined;
      else open.waitingSinceMs ??= now;
      if (now - (open.waitingSinceMs ?? now) > answerTimeoutMs) this.#cutOff(open);
      else if ("stream" in open.request && now - open.begunMs > requestTimeoutMs) {
        this.#endUnsent(open.request.stream);
      }
    }
  }

  #cutOff({ response, socket }: OpenRequest): void {
    this.counts.answer += 1;
    // The other streams of an HTTP/2 session may be well. An answer of HTTP/1 that waits behind another has no socket.
    if (socket !== undefined) cutSocket(socket);
    else (response as Http2ServerResponse).stream?.destroy();
  }

  /** Ends a stream whose body comes too slowly, as on HTTP/1: HTTP/2 servers have no request timeout. */
  #endUnsent(stream: Http2ServerRequest["stream"]): void {
    if (stream.closed || stream.endAfterHeaders || stream.readableEnded) return;
    this.counts.request += 1;
    stream.close(constants.NGHTTP2_CANCEL);
  }
}

/** Number of bytes that were answered and not taken by the system's buffers. */
function waiting(response: Response): number {
  return "stream" in response ? (response.stream?.writableLength ?? 0) : response.writableLength;
}
