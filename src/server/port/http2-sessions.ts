import { constants, type Http2Session, type ServerHttp2Stream, type ServerOptions } from "node:http2";
import { take } from "../../accounts/bucket.js";
import type { ConnectionCounts } from "./connection-counts.js";
import type { OnePortLimits } from "./one-port-limits.js";

/**
 * Calls that a client resets (CVE-2023-44487). Node itself stops at 33 a second after a burst of 1,000: it
 * says GOAWAY and reads no more, but leaves the connection open. Below that, the connection is ended here.
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

/** The open HTTP/2 sessions of a server, each held to its limits. */
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

  /** Sends GOAWAY: each ends with its last stream. */
  close(): void {
    for (const session of this.#sessions) session.close();
  }
}

/** To be called for each call that is reset, by whomever: ends the session of one that does so too often. */
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
    // Not in the midst of what Node reads just now.
    setImmediate(() => session.destroy());
  };
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

/**
 * Ends a session that sends headers without an end. Node tells nothing of them, and each byte counts as a
 * sign of life. But no other frame may stand between their frames (RFC 9113, 6.10), so that whoever is in
 * the midst of them cannot answer a ping. Asked is who has sent something that was neither a call nor
 * a body.
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

/** Ends a session whose other side is gone without a word, as behind a pulled cable. */
function askForLife(session: Http2Session, limits: OnePortLimits, onPong = () => {}): void {
  const timer = setTimeout(() => session.destroy(), limits.pongTimeoutMs);
  session.once("close", () => clearTimeout(timer));
  session.ping((error) => {
    clearTimeout(timer);
    if (error === null) onPong();
    if (error === null) session.setTimeout(limits.silenceTimeoutMs); // a pong alone does not restart it
  });
}
