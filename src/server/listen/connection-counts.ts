import { Share } from "../../concurrency/share.js";

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
