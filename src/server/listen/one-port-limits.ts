import { Share } from "../../concurrency/share.js";

/** Limits of one port: every wait and every queue that a stranger can fill has its bound here. */
export const ONE_PORT_LIMITS = Object.freeze({
  /** Number of connections that all clients share; one address alone gets a third of it at most. */
  connectionsMax: 10_000,
  /** Maximum number of open connections of one client address; of IPv6, of one /64. */
  connectionsPerAddressMax: 2_500,
  /** Time from a new connection to the bytes that tell its protocol; as long again for a TLS handshake. */
  firstBytesTimeoutMs: 10_000,
  /** Time from a request's first byte to the end of its headers (HTTP/1). */
  headersTimeoutMs: 10_000,
  /** Time from a request's first byte, on HTTP/2 from its headers, to the end of its body. */
  requestTimeoutMs: 30_000,
  /**
   * Time between two requests of an HTTP/1 connection. It is longer than the 60 s after which common load balancers
   * drop an idle connection: if the server closes first, requests that are on their way are lost.
   */
  keepAliveTimeoutMs: 72_000,
  /** Time without a byte either way; a busy HTTP/2 session is asked for a sign of life first. */
  silenceTimeoutMs: 120_000,
  /** Time from that question to its answer. */
  pongTimeoutMs: 10_000,
  /**
   * Time from the answer to the end of a call, or on HTTP/1 of a connection, whose body still goes on: long enough
   * for a balancer to pass the answer on.
   */
  unreadTimeoutMs: 500,
  /** Time that bytes of an answer may wait to be read before the client is cut off. */
  answerTimeoutMs: 60_000,
  /**
   * Maximum number of pipelined requests of an HTTP/1 connection; more end it. It is as many as an HTTP/2 session may
   * run: one read of 64 KiB may hold a thousand requests, and Node takes all.
   */
  pipelinedMax: 100,
  /** Maximum size of all headers of a request; an HTTP/2 client that does not know it yet may send 64 KiB. */
  headerBytesMax: 16_384,
  /** Maximum number of headers of a request. */
  headerLinesMax: 128,
  /** Maximum number of calls that one HTTP/2 session runs at a time. */
  streamsMax: 100,
  /**
   * Maximum number of bytes of a call's body that an HTTP/2 client may send before they are read. It is half of
   * HTTP/2's default: what a thousand calls send before they are refused must fit into memory.
   */
  unreadStreamBytesMax: 32_768,
  /**
   * Memory that one HTTP/2 session may take, in megabytes as Node counts it. Answers that wait to be read count: 100
   * of the largest that are likely, 1.6 MB, must fit. Beyond it Node refuses calls, and after 100 refusals ends the
   * session; its default of 10 does so at 7.
   */
  sessionMegabytesMax: 256,
});

export type OnePortLimits = Readonly<Record<keyof typeof ONE_PORT_LIMITS, number>>;

/** Maximum number of HTTP/2 streams of all connections that are not finished. */
export const HTTP2_STREAMS_MAX = 10_000;

/** Shares and counts of a one-port server, to be read at any time. The counts are since the start. */
export class ConnectionCounts {
  /** Open connections. Each one of a trusted proxy is an owner of its own, because it stands for many clients. */
  readonly connections: Share;
  /** HTTP/2 streams that are not finished: the request, its work, and an answer that waits to be read. */
  readonly http2Streams = new Share({ total: HTTP2_STREAMS_MAX, what: "HTTP/2 streams" });
  /** Number of connections closed at once because too many were open: in all, or of their address. */
  readonly refused = { total: 0, address: 0 };
  /**
   * Number of clients cut off because they were too slow with their first bytes (or the TLS handshake), with
   * a request or with taking an answer, sent too many requests without waiting for an answer, or went on after
   * too many refusals.
   */
  readonly cutOff = { first_bytes: 0, request: 0, answer: 0, pipelining: 0, refusals: 0 };

  constructor(connectionsMax: number) {
    this.connections = new Share({ total: connectionsMax, what: "connections" });
  }
}
