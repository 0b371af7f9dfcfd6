/** Counts of a one-port server's connections, to be read at any time. All but `open` are since the start. */
export class ConnectionCounts {
  open = 0;
  /** Number of connections closed at once because too many were open: in all, or of their address. */
  readonly refused = { total: 0, address: 0 };
  /**
   * Number of clients cut off because they were too slow with their first bytes (or the TLS handshake), with
   * a request or with taking an answer, or sent too many requests without waiting for an answer.
   */
  readonly cutOff = { first_bytes: 0, request: 0, answer: 0, pipelining: 0 };
}
