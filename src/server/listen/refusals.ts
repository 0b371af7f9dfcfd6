import type { IncomingMessage } from "node:http";
import { constants, type Http2ServerRequest, type Http2Session } from "node:http2";
import type { Socket } from "node:net";
import type { Buckets, Rate } from "../../concurrency/bucket.js";
import type { ConnectionCounts } from "./one-port-limits.js";
import { closeAfter, LINGER_MS } from "./open-requests.js";

/**
 * Rate of refusals of an address after which each further one ends its connection: refusing forever costs as much as
 * serving.
 */
export const REFUSALS_RATE: Rate = Object.freeze({ perSecond: 100, burst: 2_000 });

interface Watched {
  /** Buckets of the refusals after which a connection may go on, and the name of this one's. */
  readonly refusals: Buckets;
  readonly owner: string;
  readonly cutOff: ConnectionCounts["cutOff"];
}

/** Connections that are ended after too many refusals, as HTTP/1 sockets and HTTP/2 sessions. */
const connections = new WeakMap<object, Watched>();

/** Connections that are being ended. */
const ending = new WeakSet<object>();

export function endAfterRefusals(connection: Socket | Http2Session, watched: Watched): void {
  connections.set(connection, watched);
}

/** True if a connection is being ended, and nothing more of it should be served. */
export function isEnding(connection: object): boolean {
  return ending.has(connection);
}

/**
 * Counts a request that was refused, such as with 401, 404 or 429. After many of an address, the connection is
 * ended once its running answers had a moment to leave; `immediately` ends it after this one. Those of trusted proxies stay.
 */
export function noteRefusal(
  request: IncomingMessage | Http2ServerRequest,
  { immediately = false } = {},
): void {
  const connection = connectionOf(request);
  const watched = connections.get(connection);
  if (watched === undefined || isEnding(connection)) return;
  if (!immediately && watched.refusals.tryTake(watched.owner)) return;
  watched.cutOff.refusals += 1;
  ending.add(connection);
  if ("goaway" in connection) endSession(connection, immediately ? 0 : LINGER_MS);
  else if (immediately || "stream" in request) connection.destroy();
  else closeAfter(request);
}

/** Returns what a request came by: an HTTP/2 session or a socket. */
export function connectionOf(request: IncomingMessage | Http2ServerRequest): Http2Session | Socket {
  return ("stream" in request ? request.stream?.session : undefined) ?? request.socket;
}

/**
 * Ends an HTTP/2 session whose client is asked to calm down. Not at once: in the middle of reading, GOAWAY would
 * free the stream that nghttp2 is just opening, which corrupts the memory of the process.
 */
export function endSession(session: Http2Session, lingerMs = 0): void {
  ending.add(session);
  setImmediate(() => {
    if (session.destroyed) return;
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    setTimeout(() => session.destroy(), lingerMs).unref();
  });
}
