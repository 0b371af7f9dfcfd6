import type { ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";

/** How often answers are looked at. */
const CHECK_MS = 1_000;

type Response = ServerResponse | Http2ServerResponse;

/**
 * Cuts off clients that do not take their answers: what waits to be read is held in memory. Node's
 * own timeouts look at connections, and one byte now and then satisfies them.
 */
export class SlowReaders {
  /** With when the bytes that wait began to; undefined while none do. */
  readonly #answers = new Map<Response, number | undefined>();
  readonly #timer = setInterval(() => this.#look(), CHECK_MS).unref();

  constructor(private readonly answerTimeoutMs: number) {}

  watch(response: Response): void {
    this.#answers.set(response, undefined);
    response.once("close", () => this.#answers.delete(response));
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    for (const [response, sinceMs] of this.#answers) {
      if (waiting(response) === 0) this.#answers.set(response, undefined);
      else if (sinceMs === undefined) this.#answers.set(response, now);
      else if (now - sinceMs > this.answerTimeoutMs) cutOff(response);
    }
  }
}

/** Bytes that were answered and not taken by the system's buffers. */
function waiting(response: Response): number {
  return "stream" in response ? (response.stream?.writableLength ?? 0) : response.writableLength;
}

function cutOff(response: Response): void {
  // Of an HTTP/2 session the other streams may be well.
  if ("stream" in response) response.stream?.destroy();
  else response.socket?.resetAndDestroy();
}
