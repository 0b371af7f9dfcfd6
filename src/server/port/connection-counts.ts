/** What a one-port server knows of its connections, to be read at any time. All counts are since the start. */
export class ConnectionCounts {
  open = 0;
  /** Closed at once, because too many were open: in all, or of their address. */
  readonly refused = { total: 0, address: 0 };
  /**
   * Clients too slow with their first bytes (or the TLS handshake), with a request, or with taking an
   * answer; and those that sent too many requests without waiting for an answer.
   */
  readonly cutOff = { first_bytes: 0, request: 0, answer: 0, pipelining: 0 };
}
