import { type IncomingMessage, type RequestListener, Server } from "node:http";
import { createServer as createHttp2Server, type Http2Server, type Http2ServerRequest } from "node:http2";
import type { Socket } from "node:net";
import { ConnectionCounts } from "./connection-counts.js";
import { ConnectionLimit } from "./connection-limit.js";
import { type Protocol, sniff } from "./first-bytes.js";
import { http1Options, takeConnectionListener } from "./http1.js";
import { Http2Sessions, http2Options } from "./http2-sessions.js";
import { ONE_PORT_LIMITS, type OnePortLimits } from "./one-port-limits.js";
import { Pace } from "./pace.js";
import { SlowReaders } from "./slow-readers.js";
import type { Tls } from "./tls.js";
import { TlsHandshakes } from "./tls-handshakes.js";
import { UnreadBodies } from "./unread.js";

/** Time between two looks of a closing server for HTTP/1 connections that have become idle. */
const DRAIN_CHECK_MS = 100;

/** Time from the end of our side of an HTTP/2 connection to its destruction. The other side may never end. */
const LINGER_MS = 1000;

/**
 * Creates an HTTP/1.1 server that also answers HTTP/2 on its port: with prior knowledge (h2c), or over TLS
 * when given a certificate. Requests of both kinds reach the same handler.
 *
 * It is made for Fastify: `Fastify({ serverFactory: (handler) => createOnePortServer(handler) })`. Fastify's
 * own timeouts do not reach a server that it did not make; `limits` takes their place.
 */
export function createOnePortServer(
  handler: RequestListener,
  { tls, isProxy, isUrgent, counts, ...limits }: Partial<OnePortLimits> & Partial<OnePortOptions> = {},
): OnePortServer {
  const all = { ...ONE_PORT_LIMITS, ...limits };
  return new OnePortServer(handler, { limits: all, tls, isProxy, isUrgent, counts });
}

interface OnePortOptions {
  readonly tls: Tls | undefined;
  /** Tells addresses that stand for many clients and have no limit. */
  readonly isProxy: ((address: string) => boolean) | undefined;
  /** Tells which requests begin before others that wait, by their path. */
  readonly isUrgent: ((path: string) => boolean) | undefined;
  /**
   * Counts that the server keeps. HTTP/1 requests that come too slowly are counted by the listener of
   * `clientError`.
   */
  readonly counts: ConnectionCounts | undefined;
}

export class OnePortServer extends Server {
  readonly #limits: OnePortLimits;
  readonly #counts: ConnectionCounts;
  readonly #http1: (socket: Socket) => void;
  readonly #http2: Http2Server;
  readonly #handshakes: TlsHandshakes | undefined;
  readonly #connections: ConnectionLimit;
  readonly #answers: SlowReaders;
  readonly #openings = new Pace();
  readonly #requests = new Pace();
  readonly #sniffing = new Set<Socket>();
  readonly #http2Sockets = new Set<Socket>();
  readonly #sessions: Http2Sessions;

  constructor(
    handler: RequestListener,
    {
      limits,
      tls,
      isProxy,
      isUrgent = () => false,
      counts = new ConnectionCounts(),
    }: Partial<OnePortOptions> & { limits: OnePortLimits },
  ) {
    super(http1Options(limits));
    this.#limits = limits;
    this.#counts = counts;
    this.maxConnections = limits.connectionsMax;
    this.timeout = limits.silenceTimeoutMs;
    this.#http1 = takeConnectionListener(this);
    this.#http2 = createHttp2Server(http2Options(limits));
    this.#http2.on("request", (request, response) => this.emit("request", request, response));
    this.#sessions = new Http2Sessions(limits, counts);
    this.#http2.on("session", (session) => this.#sessions.admit(session));
    this.#handshakes = tls && this.#createHandshakes(tls);
    this.#connections = new ConnectionLimit(limits.connectionsPerAddressMax, isProxy);
    this.on("connection", (socket: Socket) => this.#take(socket));
    this.on("drop", () => {
      counts.refused.total += 1;
    });
    this.#answers = new SlowReaders(limits, counts.cutOff);
    this.once("close", () => this.#answers.close());
    // The handler refuses it in words; the answer of Node would have no body.
    this.on("checkExpectation", (request, response) => this.emit("request", request, response));
    const unread = new UnreadBodies(limits);
    this.on("request", (request, response) => {
      if (!this.#answers.begin(request, response)) return;
      unread.watch(request, response);
      const serve = () => {
        // A client that gives up while its request waits asks for nothing, and pays nothing.
        if (!isGone(request)) handler(request, response);
      };
      this.#requests.begin(serve, { urgent: isUrgent(request.url ?? "") });
    });
  }

  /**
   * Takes no more connections, asks open ones to end once their running calls are answered, and calls back
   * when the last is gone. A stuck call holds this up: the caller sets the limit, and ends it with
   * `closeAllConnections`.
   */
  override close(callback?: (error?: Error) => void): this {
    super.close(callback);
    this.#handshakes?.end();
    this.#sessions.close();
    const drain = setInterval(() => {
      // Whatever a silent connection had sent before has been read by now.
      for (const socket of this.#sniffing) socket.destroy();
      // A keep-alive connection that is busy now must end as soon as it idles; Node does not do that.
      this.closeIdleConnections();
    }, DRAIN_CHECK_MS);
    this.once("close", () => clearInterval(drain));
    return this;
  }

  /** Ends every connection at once, whatever runs on it. */
  override closeAllConnections(): void {
    super.closeAllConnections();
    for (const socket of [...this.#sniffing, ...this.#http2Sockets]) socket.destroy();
    this.#handshakes?.end();
  }

  #createHandshakes(tls: Tls): TlsHandshakes {
    return new TlsHandshakes(tls, {
      timeoutMs: this.#limits.firstBytesTimeoutMs,
      onTimeout: () => {
        this.#counts.cutOff.first_bytes += 1;
      },
      // The protocol agreed on (ALPN) is ignored: the first bytes tell the same.
      onSecure: (socket) => this.#sniff(socket),
    });
  }

  #take(socket: Socket): void {
    if (!this.#connections.admit(socket)) {
      this.#counts.refused.address += 1;
      // A reset: connections of a client that has too many must not linger in TIME_WAIT.
      socket.resetAndDestroy();
      return;
    }
    // No other listener is on it while it waits to be opened.
    socket.on("error", () => socket.destroy());
    this.#counts.open += 1;
    socket.once("close", () => {
      this.#counts.open -= 1;
    });
    if (this.#handshakes === undefined) this.#sniff(socket);
    else this.#handshakes.begin(socket);
  }

  #sniff(socket: Socket): void {
    this.#sniffing.add(socket);
    socket.once("close", () => this.#sniffing.delete(socket));
    sniff(socket, {
      timeoutMs: this.#limits.firstBytesTimeoutMs,
      onTimeout: () => {
        this.#counts.cutOff.first_bytes += 1;
      },
      onProtocol: (protocol) => {
        this.#sniffing.delete(socket);
        this.#openings.begin(() => this.#open(socket, protocol));
      },
    });
  }

  #open(socket: Socket, protocol: Protocol): void {
    if (socket.destroyed) return;
    if (protocol === "http2") this.#openSession(socket);
    else this.#openHttp1(socket);
  }

  #openHttp1(socket: Socket): void {
    this.#http1.call(this, socket);
    socket.resume();
  }

  #openSession(socket: Socket): void {
    this.#http2Sockets.add(socket);
    socket.once("close", () => this.#http2Sockets.delete(socket));
    socket.once("finish", () => setTimeout(() => socket.destroy(), LINGER_MS).unref());
    // An HTTP/1 server allows half-open sockets; a session on such a one never ends.
    socket.allowHalfOpen = false;
    this.#http2.emit("connection", socket); // reads what is buffered by itself
  }
}

/** Tells whether a client has gone, by its socket or stream: the request itself hears of it only later. */
function isGone(request: IncomingMessage | Http2ServerRequest): boolean {
  return "stream" in request ? (request.stream?.destroyed ?? true) : request.socket.destroyed;
}
