/** Limits of one port: every wait and every queue that a stranger can fill has its bound here. */
export interface OnePortLimits {
  /** Number of connections that all clients share; one address alone gets a third of it at most. */
  readonly connectionsMax: number;
  /** Maximum number of open connections of one client address; of IPv6, of one /64. */
  readonly connectionsPerAddressMax: number;
  /** Time from a new connection to the bytes that tell its protocol; as long again for a TLS handshake. */
  readonly firstBytesTimeoutMs: number;
  /** Time from a request's first byte to the end of its headers (HTTP/1). */
  readonly headersTimeoutMs: number;
  /** Time from a request's first byte, on HTTP/2 from its headers, to the end of its body. */
  readonly requestTimeoutMs: number;
  /** Time between two requests of an HTTP/1 connection. */
  readonly keepAliveTimeoutMs: number;
  /** Time without a byte either way; a busy HTTP/2 session is asked for a sign of life first. */
  readonly silenceTimeoutMs: number;
  /** Time from that question to its answer. */
  readonly pongTimeoutMs: number;
  /** Time from the answer to the end of a call, or on HTTP/1 of a connection, whose body still goes on. */
  readonly unreadTimeoutMs: number;
  /** Time that bytes of an answer may wait to be read before the client is cut off. */
  readonly answerTimeoutMs: number;
  /** Maximum number of pipelined requests of an HTTP/1 connection; more end it. */
  readonly pipelinedMax: number;
  /** Maximum size of all headers of a request; an HTTP/2 client that does not know it yet may send 64 KiB. */
  readonly headerBytesMax: number;
  /** Maximum number of headers of a request. */
  readonly headerLinesMax: number;
  /** Maximum number of calls that one HTTP/2 session runs at a time. */
  readonly streamsMax: number;
  /** Maximum number of bytes of a call's body that an HTTP/2 client may send before they are read. */
  readonly unreadStreamBytesMax: number;
  /** Memory that one HTTP/2 session may take, in megabytes as Node counts it. */
  readonly sessionMegabytesMax: number;
}

export const ONE_PORT_LIMITS: OnePortLimits = Object.freeze({
  connectionsMax: 10_000,
  connectionsPerAddressMax: 2_500,
  firstBytesTimeoutMs: 10_000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  // Longer than the 60 s after which common load balancers drop an idle connection: if the server closes
  // first, requests that are on their way are lost.
  keepAliveTimeoutMs: 72_000,
  silenceTimeoutMs: 120_000,
  pongTimeoutMs: 10_000,
  // Long enough for a balancer to pass the answer on.
  unreadTimeoutMs: 500,
  answerTimeoutMs: 60_000,
  // As many as an HTTP/2 session may run. One read of 64 KiB may hold a thousand requests, and Node takes all.
  pipelinedMax: 100,
  headerBytesMax: 16_384,
  headerLinesMax: 128,
  streamsMax: 100,
  // Half of HTTP/2's default: what a thousand calls send before they are refused must fit into memory.
  unreadStreamBytesMax: 32_768,
  // Answers that wait to be read count: 100 of the largest that are likely, 1.6 MB, must fit. Beyond
  // it Node refuses calls, and after 100 refusals ends the session; its default of 10 does so at 7.
  sessionMegabytesMax: 256,
});
