import { constants, type Http2Session, type ServerHttp2Stream, type ServerOptions } from "node:http2";
import type { ConnectionCounts } from "./connection-counts.js";
import type { OnePortLimits } from "./one-port-limits.js";

// Node's own bounds stay as they are where they are sound: 32 settings a frame, 10 pings of ours
// unanswered, 1000 acknowledgements of theirs queued, and calls that are reset at once
// (CVE-2023-44487) at most 33 a second after a burst of 1000.
export function http2Options(limits: OnePortLimits): ServerOptions {
  return {
    maxSessionMemory: limits.sessionMegabytesMax,
    maxHeaderListPairs: limits.headerLinesMax,
    settings: {
      maxConcurrentStreams: limits.streamsMax,
      maxHeaderListSize: limits.headerBytesMax,
      initialWindowSize: limits.unreadStreamBytesMax,
    },
  };
}

/** The open HTTP/2 sessions of a server, each held to its limits. */
export class Http2Sessions {
  readonly #sessions = new Set<Http2Session>();

  constructor(
    private readonly limits: OnePortLimits,
    private readonly counts: ConnectionCounts,
  ) {}

  admit(session: Http2Session): void {
    let running = 0;
    this.#sessions.add(session);
    session.once("close", () => this.#sessions.delete(session));
    session.on("stream", (stream: ServerHttp2Stream) => {
      running += 1;
      stream.once("close", () => {
        running -= 1;
      });
      limitRequest(stream, this.limits.requestTimeoutMs, () => {
        this.counts.cutOff.request += 1;
      });
    });
    session.on("timeout", () => (running === 0 ? session.close() : askForLife(session, this.limits)));
    session.setTimeout(this.limits.silenceTimeoutMs);
  }

  /** Sends GOAWAY: each ends with its last stream. */
  close(): void {
    for (const session of this.#sessions) session.close();
  }
}

/** HTTP/2 servers have no request timeout of their own: whoever trickles a body is cut off as on HTTP/1. */
function limitRequest(stream: ServerHttp2Stream, timeoutMs: number, onTimeout: () => void): void {
  if (stream.endAfterHeaders) return;
  const timer = setTimeout(() => {
    onTimeout();
    stream.close(constants.NGHTTP2_CANCEL);
  }, timeoutMs);
  const stop = () => clearTimeout(timer);
  stream.once("end", stop).once("close", stop);
}

/** Ends a session whose other side is gone without a word, as behind a pulled cable. */
function askForLife(session: Http2Session, limits: OnePortLimits): void {
  const timer = setTimeout(() => session.destroy(), limits.pongTimeoutMs);
  session.ping((error) => {
    clearTimeout(timer);
    if (error === null) session.setTimeout(limits.silenceTimeoutMs); // a pong alone does not restart it
  });
}
