import { constants, type Http2Session, type ServerHttp2Stream, type ServerOptions } from "node:http2";
import { take } from "../../accounts/bucket.js";
import type { ConnectionCounts } from "./connection-counts.js";
import type { OnePortLimits } from "./one-port-limits.js";

/**
 * Rate of calls that a client may reset (CVE-2023-44487). Node itself stops at 33 a second after a burst of
 * 1,000: it sends GOAWAY and reads no more, but leaves the connection open. This server ends the connection
 * at a lower rate.
 */
const RESETS = { perSecond: 30, burst: 900 };

// Node's other bounds stay as they are: 32 settings a frame, 10 pings of ours unanswered, 1000
// acknowledgements of theirs queued.
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

/** Open HTTP/2 sessions of a server, each held to its limits. */
export class Http2Sessions {
  readonly #sessions = new Set<Http2Session>();

  constructor(
    private readonly limits: OnePortLimits,
    private readonly counts: ConnectionCounts,
  ) {}

  admit(session: Http2Session): void {
    let running = 0;
    const receiving = new Set<ServerHttp2Stream>();
    let opened = false;
    const onReset = limitResets(session, this.counts);
    this.#sessions.add(session);
    session.once("close", () => this.#sessions.delete(session));
    session.on("stream", (stream: ServerHttp2Stream) => {
      running += 1;
      opened = true;
      if (!stream.endAfterHeaders) receiving.add(stream);
      stream.once("end", () => receiving.delete(stream));
      stream.once("close", () => {
        if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) onReset();
        running -= 1;
        receiving.delete(stream);
      });
      limitRequest(stream, this.limits.requestTimeoutMs, () => {
        this.counts.cutOff.request += 1;
      });
    });
    session.on("timeout", () => (running === 0 ? session.close() : askForLife(session, this.limits)));
    session.setTimeout(this.limits.silenceTimeoutMs);
    endUnfinishedHeaders(session, this.limits, () => {
      const wasBusy = opened || receiving.size > 0;
      opened = false;
      return wasBusy;
    });
  }

  /** Sends GOAWAY: each session ends with its last stream. */
  close(): void {
    for (const session of this.#sessions) session.close();
  }
}

/** Returns a function to call for each reset call, by either side; it ends a session with too many. */
function limitResets(session: Http2Session, counts: ConnectionCounts): () => void {
  let fullAtMs = 0;
  let ending = false;
  return () => {
    const taken = take(fullAtMs, RESETS, performance.now());
    if (taken.waitMs <= 0) fullAtMs = taken.fullAtMs;
    if (taken.waitMs <= 0 || ending || session.destroyed) return;
    ending = true;
    counts.cutOff.request += 1;
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    // Later, because Node is in the middle of reading now.
    setImmediate(() => session.destroy());
  };
}

/** Ends a stream whose body comes too slowly, as on HTTP/1: HTTP/2 servers have no request timeout. */
function limitRequest(stream: ServerHttp2Stream, timeoutMs: number, onTimeout: () => void): void {
  if (stream.endAfterHeaders) return;
  const timer = setTimeout(() => {
    onTimeout();
    stream.close(constants.NGHTTP2_CANCEL);
  }, timeoutMs);
  const stop = () => clearTimeout(timer);
  stream.once("end", stop).once("close", stop);
}

/**
 * Ends a session that sends headers without an end. Node tells nothing of them, and each byte counts as a
 * sign of life. But no other frame may stand between their frames (RFC 9113, 6.10), so a client in the middle
 * of them cannot answer a ping. A session is asked when it has sent something that was neither a call nor a
 * body.
 */
function endUnfinishedHeaders(session: Http2Session, limits: OnePortLimits, wasBusy: () => boolean): void {
  let seenBytes = 0;
  const timer = setInterval(() => {
    if (session.destroyed) return;
    const { bytesRead } = session.socket;
    const asked = bytesRead > seenBytes && !wasBusy();
    seenBytes = bytesRead;
    if (!asked) return;
    askForLife(session, limits, () => {
      if (!session.destroyed) seenBytes = session.socket.bytesRead;
    });
  }, limits.headersTimeoutMs).unref();
  session.once("close", () => clearInterval(timer));
}

/** Asks the other side for a sign of life, and ends the session if none comes, as after a pulled cable. */
function askForLife(session: Http2Session, limits: OnePortLimits, onPong = () => {}): void {
  const timer = setTimeout(() => session.destroy(), limits.pongTimeoutMs);
  session.once("close", () => clearTimeout(timer));
  session.ping((error) => {
    clearTimeout(timer);
    if (error === null) onPong();
    if (error === null) session.setTimeout(limits.silenceTimeoutMs); // a pong alone does not restart it
  });
}
