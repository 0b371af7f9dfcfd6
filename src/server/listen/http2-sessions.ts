import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import {
  constants,
  type Http2ServerRequest,
  type Http2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from "node:http2";
import type { Socket } from "node:net";
import { Buckets, type Rate } from "../../concurrency/bucket.js";
import { callEvery } from "../../concurrency/every.js";
import { FairQueue } from "../../concurrency/yield-to-event-loop.js";
import { networkOf, type TrustedProxies } from "./client-address.js";
import type { ConnectionCounts, OnePortLimits } from "./one-port-limits.js";
import { onTaken } from "./open-requests.js";
import { OVERHEAD_CHECK_MS, OVERHEAD_RATE, Overhead } from "./overhead.js";
import { runFairly, time } from "./read-in-slices.js";
import { endSession, isEnding } from "./refusals.js";

/**
 * Rate of calls that the clients of an address may reset (CVE-2023-44487). Node itself stops a session at 33 a second
 * after a burst of 1,000: it sends GOAWAY and reads no more, but leaves the connection open. This server ends the
 * session at a lower rate, and lets no other begin from there until those resets are made up for.
 */
export const RESETS_RATE: Rate = Object.freeze({ perSecond: 30, burst: 900 });
/** Longest time for which no session begins: resets that were on their way together count no further. */
const RESETS_MS_MAX = 10_000;

/** Bytes that a call may take for its headers before they count. Those that it does not take are not kept for later. */
export const HEADER_BYTES_FREE = 4_096;
/** Bytes of a body in one frame from which the frame is worth its head. */
const FRAME_BYTES_MIN = 64;
const FRAME_HEAD_BYTES = 9;
/** HTTP/2's own bound of what a client may send before it is read. */
const WINDOW_BYTES = 65_535;
/** Frames of fewer bytes between two looks after which a session is looked at at once, and ended. */
const TINY_FRAMES_MAX = 4_096;

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

interface OpenSession {
  readonly streams: Set<ServerHttp2Stream>;
  /** True if a stream was opened since the last look. */
  opened: boolean;
  /** Bytes that it has sent, of which some were worth something, up to the last look for overhead. */
  readBytes: number;
  usefulBytes: number;
  /** Bytes that the headers of its calls may have taken since the last look. */
  headerBytes: number;
  tinyFrames: number;
  /** Name by which its resets are counted. */
  readonly owner: string;
}

/** Open HTTP/2 sessions of a server, each held to its limits. */
export class Http2Sessions {
  readonly #sessions = new Map<Http2Session, OpenSession>();
  /** Those whose bytes Node reads as they come. The others wait for their turn. */
  readonly #read = new Set<Http2Session>();
  /** One is read in each iteration of the event loop: the first takes its time, and all others would be paused again. */
  readonly #readQueue = new FairQueue(0);
  readonly #resets = new Buckets(RESETS_RATE);
  readonly #overhead = new Overhead();
  /** Ends what `close` leaves running for the last streams. */
  readonly stop = callEvery(OVERHEAD_CHECK_MS, () => {
    for (const [session, open] of this.#sessions) this.#countOverhead(session, open);
  });

  constructor(
    private readonly limits: OnePortLimits,
    private readonly counts: ConnectionCounts,
    private readonly proxies: TrustedProxies,
  ) {}

  /**
   * Opens a session at once or in the queue in which sessions wait to be read: Node reads at once
   * what has come with its first bytes, which takes a hundred times as long as the call of another that would wait behind it.
   */
  openFairly(owner: string, open: () => void): void {
    runFairly(owner, 0, open, this.#readQueue);
  }

  /** True if the owner of a connection may begin a session on it. */
  accepts(owner: string): boolean {
    return this.#resets.waitMs(owner) <= 0 && this.#overhead.accepts(owner);
  }

  accept(session: Http2Session, owner: string): void {
    const open: OpenSession = {
      streams: new Set(),
      opened: false,
      readBytes: 0,
      usefulBytes: 0,
      headerBytes: 0,
      tinyFrames: 0,
      owner,
    };
    this.#sessions.set(session, open);
    this.#read.add(session);
    session.once("close", () => {
      this.#sessions.delete(session);
      this.#read.delete(session);
    });
    session.on("timeout", () =>
      open.streams.size === 0 ? session.close() : askForLife(session, this.limits),
    );
    session.setTimeout(this.limits.silenceTimeoutMs);
    endUnfinishedHeaders(session, open, this.limits);
  }

  /** Counts a stream until it closes. One too many is refused before any work, and false returned. */
  acceptStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, sent: readonly string[]): boolean {
    // A stream that was opened and reset in one go is destroyed already. Nobody else would hear of its error, which
    // would end the process.
    stream.on("error", () => {});
    const { session } = stream;
    const open = session && this.#sessions.get(session);
    if (session === undefined || open === undefined) return false;
    const isSliceOver = time.isOver();
    if (isSliceOver) this.#pauseAll();
    const { http2Streams } = this.counts;
    const owner = networkOf(this.proxies.addressOf({ socket: session.socket as Socket, headers }));
    open.opened = true;
    open.headerBytes += HEADER_BYTES_FREE;
    const countExcess = (sent: readonly string[]) => {
      // A client that does not acknowledge the limit may say 400 KB in a hundred bytes, by references to one header.
      const excessBytes = sent.reduce((sum, { length }) => sum + length, -this.limits.headerBytesMax);
      if (excessBytes <= 0) return;
      open.usefulBytes -= excessBytes;
      setImmediate(() => this.#countOverhead(session, open));
    };
    countExcess(sent);
    // The headers as they were sent: of several with one name, Node may hand on only the first.
    stream.on("trailers", (_trailers: unknown, _flags: unknown, sent: readonly string[]) =>
      countExcess(sent),
    );
    // A read of 64 KiB may hold five hundred calls that the client has each reset before it opened the next. Those that it
    // resets stay open until nothing is read any more.
    const isTooMany = isSliceOver && open.streams.size >= this.limits.streamsMax;
    if (stream.closed || isTooMany || isEnding(session) || !http2Streams.tryTake(owner)) {
      stream.once("close", () => this.#noteReset(session, open));
      // Later, because Node is in the middle of reading now.
      setImmediate(() => (stream.closed ? stream.destroy() : stream.close(constants.NGHTTP2_REFUSED_STREAM)));
      return false;
    }
    // A stream that its client resets without an error stays until somebody reads what was sent on it, if Node has its way.
    stream.once("aborted", () => setImmediate(() => stream.destroy()));
    open.streams.add(stream);
    // Node reads the first bytes of a session before anything here hears of its stream.
    open.usefulBytes += stream.readableLength;
    const push = stream.push.bind(stream);
    stream.push = (bytes, ...rest) => {
      if (bytes !== null && bytes.length < FRAME_BYTES_MIN) open.tinyFrames += 1;
      else if (bytes !== null) open.usefulBytes += bytes.length + FRAME_HEAD_BYTES;
      if (bytes === null || open.tinyFrames <= TINY_FRAMES_MAX) return push(bytes, ...rest);
      if (open.tinyFrames === TINY_FRAMES_MAX + 1) {
        // Else it would read on for 2 MiB, two hundred thousand frames, in this iteration of the event loop.
        handleOf(session)?.readStop();
        setImmediate(() => this.#countOverhead(session, open));
      }
      return false;
    };
    stream.once("close", () => {
      // Nobody reads the rest of a refused body. Its client may have sent as much as HTTP/2 allows by default.
      if (isReceiving(stream)) open.usefulBytes += WINDOW_BYTES;
      open.streams.delete(stream);
      http2Streams.give(owner);
      if (stream.aborted || stream.rstCode !== constants.NGHTTP2_NO_ERROR) this.#noteReset(session, open);
    });
    return true;
  }

  /**
   * Serves a call at once, or in its client's turn: one read of 64 KiB may begin all that a session may run. Node has made
   * its request by then, and so notes the end of its body.
   */
  serve(request: IncomingMessage, goOn: () => void): void {
    const { session } = (request as IncomingMessage & Partial<Http2ServerRequest>).stream ?? {};
    const running = session && this.#sessions.get(session)?.streams.size;
    onTaken(request, runFairly(networkOf(request.clientAddress ?? ""), running ?? 0, goOn));
  }

  /** Sends GOAWAY: each session ends with its last stream. */
  close(): void {
    for (const session of this.#sessions.keys()) session.close();
  }

  /**
   * Reads no session until its turn comes. Node would read one after another in this iteration, each of which may begin
   * a thousand streams: a thousand sessions held the main thread for a minute.
   */
  #pauseAll(): void {
    for (const session of this.#read) {
      handleOf(session)?.readStop();
      if (session.destroyed) continue;
      const { owner, readBytes } = this.#sessions.get(session) as OpenSession;
      this.#readQueue.ask(owner, session.socket.bytesRead - readBytes, () => {
        if (session.destroyed || isEnding(session)) return;
        // Meanwhile, other sessions of its address may have sent too much.
        if (!this.accepts(owner)) return endSession(session);
        this.#read.add(session);
        handleOf(session)?.readStart();
      });
    }
    this.#read.clear();
  }

  /** Counts what a session has sent for nothing; one whose owner has sent too much is ended. */
  #countOverhead(session: Http2Session, open: OpenSession): void {
    if (session.destroyed || isEnding(session)) return;
    const { bytesRead } = session.socket;
    const isFlood = open.tinyFrames > TINY_FRAMES_MAX;
    const overhead = Math.max(0, bytesRead - open.readBytes - open.headerBytes) - open.usefulBytes;
    // The rest of a refused body may still arrive, so what is left of its allowance stays.
    const usefulBytes = Math.min(OVERHEAD_RATE.burst, Math.max(0, -overhead));
    Object.assign(open, { readBytes: bytesRead, usefulBytes, headerBytes: 0, tinyFrames: 0 });
    if (overhead <= 0 && !isFlood) return;
    if (this.#overhead.allows(open.owner, overhead, { isFlood })) return;
    this.counts.cutOff.request += 1;
    endSession(session);
  }

  /** Counts a stream that either side has reset; a session whose owner has too many is ended. */
  #noteReset(session: Http2Session, open: OpenSession): void {
    const waitMs = this.#resets.waitMs(open.owner);
    if (waitMs < RESETS_MS_MAX) this.#resets.take(open.owner);
    if (waitMs <= 0 || isEnding(session) || session.destroyed) return;
    this.counts.cutOff.request += 1;
    endSession(session);
  }
}

/** Returns the handle of a session's socket, the only way to pause its reading; undefined once it is destroyed. */
function handleOf({ socket }: Http2Session) {
  return (socket as { _handle?: { readStart(): void; readStop(): void } } | undefined)?._handle;
}

/** True if a stream's request has not arrived as a whole. */
function isReceiving(stream: ServerHttp2Stream): boolean {
  return !stream.endAfterHeaders && !stream.readableEnded;
}

/**
 * Ends a session that sends headers without an end. Node tells nothing of them, and each byte counts as a
 * sign of life. But no other frame may stand between their frames (RFC 9113, 6.10), so a client in the middle
 * of them cannot answer a ping. A session is asked when it has sent something that was neither a call nor a
 * body.
 */
function endUnfinishedHeaders(session: Http2Session, open: OpenSession, limits: OnePortLimits): void {
  let lastBytesRead = 0;
  const stop = callEvery(limits.headersTimeoutMs, () => {
    if (session.destroyed) return;
    const { bytesRead } = session.socket;
    if (bytesRead === lastBytesRead) return;
    lastBytesRead = bytesRead;
    const wasBusy = open.opened || [...open.streams].some(isReceiving);
    open.opened = false;
    if (wasBusy) return;
    askForLife(session, limits, () => {
      if (!session.destroyed) lastBytesRead = session.socket.bytesRead;
    });
  });
  session.once("close", stop);
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
