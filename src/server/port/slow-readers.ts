import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Socket } from "node:net";
import type { ConnectionCounts } from "./connection-counts.js";

/** Time between two looks at the answers. */
const CHECK_MS = 1_000;

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

export interface AnswerLimits {
  /** Time that bytes of an answer may wait to be read. */
  readonly answerTimeoutMs: number;
  /** Maximum number of requests of an HTTP/1 connection that wait behind each other. */
  readonly pipelinedMax: number;
}

/** Promises by request, each resolved when the answer was taken or its client has gone. */
const taken = new WeakMap<object, Promise<void>>();

/**
 * Resolves when the answer to a request was handed to the system to the last byte, or no client waits for it
 * any more. Returns undefined for a request that no one-port server has taken.
 */
export function whenTaken(request: object): Promise<void> | undefined {
  return taken.get(request);
}

interface Answer {
  /** Time at which the waiting bytes began to wait; undefined while none do. */
  sinceMs: number | undefined;
  /** Socket of an HTTP/1 connection; undefined on HTTP/2. */
  readonly socket: Socket | undefined;
  readonly end: () => void;
}

/**
 * Watches answers under way, and cuts off clients that do not take theirs. Bytes that wait to be read are
 * held in memory, and Node's own timeouts look at connections, which one byte now and then satisfies. Clients
 * that send request upon request without waiting for an answer are cut off too.
 */
export class SlowReaders {
  readonly #answers = new Map<Response, Answer>();
  /** Answers under way by HTTP/1 connection: Node forgets the ones that queue when it closes. */
  readonly #connections = new Map<Socket, Set<Response>>();
  readonly #timer = setInterval(() => this.#look(), CHECK_MS).unref();

  constructor(
    private readonly limits: AnswerLimits,
    private readonly counts: Pick<ConnectionCounts["cutOff"], "answer" | "pipelining">,
  ) {}

  get size(): number {
    return this.#answers.size;
  }

  /** Begins to watch an answer, and tells whether the request may be served. */
  begin(request: Request, response: Response): boolean {
    const socket = "stream" in response ? undefined : request.socket;
    if (socket !== undefined && !this.#queue(socket, response)) return false;
    taken.set(
      request,
      new Promise((end) => this.#answers.set(response, { sinceMs: undefined, socket, end })),
    );
    response.once("close", () => this.#end(response));
    return true;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #queue(socket: Socket, response: Response): boolean {
    if (socket.destroyed) return false;
    const queue = this.#connections.get(socket) ?? new Set();
    if (queue.size >= this.limits.pipelinedMax) {
      this.counts.pipelining += 1;
      socket.destroy();
      return false;
    }
    if (!this.#connections.has(socket)) {
      this.#connections.set(socket, queue);
      socket.once("close", () => this.#forget(socket));
    }
    queue.add(response);
    return true;
  }

  #forget(socket: Socket): void {
    for (const response of this.#connections.get(socket) ?? []) this.#end(response);
    this.#connections.delete(socket);
  }

  #end(response: Response): void {
    const answer = this.#answers.get(response);
    if (answer === undefined) return;
    this.#answers.delete(response);
    if (answer.socket !== undefined) this.#connections.get(answer.socket)?.delete(response);
    answer.end();
  }

  #look(): void {
    const now = performance.now();
    for (const [response, answer] of this.#answers) {
      if (waiting(response) === 0) answer.sinceMs = undefined;
      else if (answer.sinceMs === undefined) answer.sinceMs = now;
      else if (now - answer.sinceMs > this.limits.answerTimeoutMs) this.#cutOff(response);
    }
  }

  #cutOff(response: Response): void {
    this.counts.answer += 1;
    // The other streams of an HTTP/2 session may be well.
    if ("stream" in response) response.stream?.destroy();
    else response.socket?.resetAndDestroy();
  }
}

/** Number of bytes that were answered and not taken by the system's buffers. */
function waiting(response: Response): number {
  return "stream" in response ? (response.stream?.writableLength ?? 0) : response.writableLength;
}
