import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  Server,
  type ServerResponse,
} from "node:http";
import {
  createServer as createHttp2Server,
  type Http2Server,
  type Http2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import { type AddressOf, clientAddresses, networkOf, plainAddress } from "./client-address.js";
import { ConnectionCounts } from "./connection-counts.js";
import { sniff } from "./first-bytes.js";
import { http1Options, takeConnectionListener } from "./http1.js";
import { Http2Sessions, http2Options } from "./http2-sessions.js";
import { ONE_PORT_LIMITS, type OnePortLimits } from "./one-port-limits.js";
import { LINGER_MS, OpenRequests } from "./open-requests.js";
import { endAfterRefusals } from "./refusals.js";
import type { Tls } from "./tls.js";
import { TlsHandshakes } from "./tls-handshakes.js";
import { dropUnread } from "./unread.js";

/** Time between two looks of a closing server for HTTP/1 connections that have become idle. */
const DRAIN_CHECK_MS = 100;

/**
 * Creates an HTTP/1.1 server that also answers HTTP/2 on its port: with prior knowledge (h2c), or over TLS
 * when given a certificate. Requests of both kinds reach the same handler.
 *
 * It is made for Fastify: `Fastify({ serverFactory: (handler) => createOnePortServer(handler) })`. Fastify's
 * own timeouts do not reach a server that it did not make; `limits` takes their place.
 */
export function createOnePortServer(
  handler: RequestListener,
  {
    tls,
    isProxy,
    addressOf,
    refuse,
    counts,
    ...limits
  }: Partial<OnePortLimits> & Partial<OnePortOptions> = {},
): OnePortServer {
  const all = { ...ONE_PORT_LIMITS, ...limits };
  return new OnePortServer(handler, { limits: all, tls, isProxy, addressOf, refuse, counts });
}

interface OnePortOptions {
  readonly tls: Tls | undefined;
  /** True for addresses that stand for many clients and have no limit. */
  readonly isProxy: ((address: string) => boolean) | undefined;
  /** Finds the address that a request comes from. */
  readonly addressOf: AddressOf | undefined;
  /** Refuses a request before the handler sees it; true if it did. */
  readonly refuse: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
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
  readonly #isProxy: (address: string) => boolean;
  readonly #sniffing = new Set<Socket>();
  readonly #http2Sockets = new Set<Socket>();
  readonly #sessions: Http2Sessions;

  constructor(
    handler: RequestListener,
    {
      limits,
      tls,
      isProxy = () => false,
      addressOf = clientAddresses([]),
      refuse = () => false,
      counts = new ConnectionCounts(limits.connectionsMax),
    }: Partial<OnePortOptions> & { limits: OnePortLimits },
  ) {
    super(http1Options(limits));
    this.#limits = limits;
    this.#counts = counts;
    this.#isProxy = isProxy;
    this.timeout = limits.silenceTimeoutMs;
    this.#http1 = takeConnectionListener(this);
    this.#http2 = createHttp2Server(http2Options(limits));
    this.#http2.on("request", (request, response) => this.emit("request", request, response));
    this.#sessions = new Http2Sessions(limits, counts, addressOf);
    this.#http2.on("session", (session) => this.#sessions.accept(session));
    this.#acceptStreams();
    this.#handshakes = tls && this.#createHandshakes(tls);
    this.on("connection", (socket: Socket) => this.#take(socket));
    const requests = new OpenRequests(limits, counts.cutOff);
    this.once("close", () => requests.close());
    // The handler refuses it in words; the answer of Node would have no body.
    this.on("checkExpectation", (request, response) => this.emit("request", request, response));
    this.on("request", (request, response) => {
      if (!requests.begin(request, response)) return;
      dropUnread(request, response, limits.unreadTimeoutMs);
      if (!refuse(request, response)) handler(request, response);
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

  /** Looks at each stream before Node makes a request of it. */
  #acceptStreams(): void {
    const [toRequest] = this.#http2.listeners("stream");
    if (toRequest === undefined) throw new Error("this version of Node makes HTTP/2 requests in another way");
    this.#http2.removeAllListeners("stream");
    this.#http2.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ...rest) => {
      if (this.#sessions.acceptStream(stream, headers)) toRequest.call(this.#http2, stream, headers, ...rest);
    });
  }

  #take(socket: Socket): void {
    const address = plainAddress(socket.remoteAddress ?? "");
    const isProxy = this.#isProxy(address);
    // It stands for many clients, so each of its connections is an owner of its own.
    const owner = isProxy ? `${address} ${socket.remotePort}` : networkOf(address);
    const { connections, refused } = this.#counts;
    if (!connections.tryTake(owner, 1, isProxy ? undefined : this.#limits.connectionsPerAddressMax)) {
      refused[connections.heldBy(owner) === 0 ? "total" : "address"] += 1;
      // A reset: connections of a client that has too many must not linger in TIME_WAIT.
      socket.resetAndDestroy();
      return;
    }
    socket.once("close", () => connections.give(owner));
    // No other listener is on it while it waits to be opened.
    socket.on("error", () => socket.destroy());
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
        if (protocol === "http2") this.#openSession(socket);
        else this.#openHttp1(socket);
      },
    });
  }

  #openHttp1(socket: Socket): void {
    this.#watchRefusals(socket, socket);
    this.#http1.call(this, socket);
    socket.resume();
  }

  #openSession(socket: Socket): void {
    this.#http2Sockets.add(socket);
    socket.once("close", () => this.#http2Sockets.delete(socket));
    socket.once("finish", () => setTimeout(() => socket.destroy(), LINGER_MS).unref());
    // An HTTP/1 server allows half-open sockets; a session on such a one never ends.
    socket.allowHalfOpen = false;
    this.#http2.once("session", (session) => this.#watchRefusals(session, socket));
    this.#http2.emit("connection", socket); // reads what is buffered by itself
  }

  #watchRefusals(connection: Socket | Http2Session, socket: Socket): void {
    if (this.#isProxy(plainAddress(socket.remoteAddress ?? ""))) return;
    endAfterRefusals(connection, () => {
      this.#counts.cutOff.refusals += 1;
    });
  }
}
