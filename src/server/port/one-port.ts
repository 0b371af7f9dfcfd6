import { type IncomingMessage, type RequestListener, Server, type ServerOptions } from "node:http";
import { createServer as createHttp2Server, type Http2Server, type Http2ServerRequest } from "node:http2";
import type { Socket } from "node:net";
import { createServer as createTlsServer, type Server as TlsServer } from "node:tls";
import { ConnectionCounts } from "./connection-counts.js";
import { ConnectionLimit } from "./connection-limit.js";
import { type Protocol, sniff } from "./first-bytes.js";
import { Http2Sessions, http2Options } from "./http2-sessions.js";
import { ONE_PORT_LIMITS, type OnePortLimits } from "./one-port-limits.js";
import { Pace } from "./pace.js";
import { SlowReaders } from "./slow-readers.js";
import type { Tls } from "./tls.js";
import { UnreadBodies } from "./unread.js";

/** How often Node looks for connections beyond its HTTP/1 timeouts; at its default of 30 s they mean little. */
const TIMEOUT_CHECK_MS = 1000;

/** How often a closing server looks for HTTP/1 connections that have become idle. */
const DRAIN_CHECK_MS = 100;

/** From the end of our side of an HTTP/2 connection to that of the other, which may never come. */
const LINGER_MS = 1000;

/**
 * An HTTP/1.1 server that also answers HTTP/2 on its port: with prior knowledge (h2c), or over TLS when
 * given a certificate. Requests of both kinds reach the same handler.
 *
 * Made for Fastify: `Fastify({ serverFactory: (handler) => createOnePortServer(handler) })`. Fastify's
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
  /** Addresses that stand for many clients, and so have no limit of their own. */
  readonly isProxy: ((address: string) => boolean) | undefined;
  /** Tells which requests begin before others that wait, by their path. */
  readonly isUrgent: ((path: string) => boolean) | undefined;
  /** Kept by the server. Of HTTP/1 requests that come too slowly only whoever hears `clientError` knows. */
  readonly counts: ConnectionCounts | undefined;
}

export class OnePortServer extends Server {
  readonly #limits: OnePortLimits;
  readonly #counts: ConnectionCounts;
  readonly #http1: (socket: Socket) => void;
  readonly #http2: Http2Server;
  readonly #tls: TlsServer | undefined;
  /** Connections whose handshake is not over, by the other side's address and port. */
  readonly #handshaking = new Map<string, Socket>();
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
    this.#tls = tls && this.#createTls(tls);
    this.#connections = new ConnectionLimit(limits.connectionsPerAddressMax, isProxy);
    this.on("connection", (socket: Socket) => this.#take(socket));
    this.on("drop", () => {
      counts.refused.total += 1;
    });
    this.#answers = new SlowReaders(limits, counts.cutOff);
    this.once("close", () => this.#answers.close());
    // As above: refused by the handler, in words.
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
   * Takes no more connections, asks those that are open to end once their running calls are
   * answered, and calls back when the last is gone. A stuck call holds this up: the caller sets the
   * limit, and ends it with `closeAllConnections`.
   */
  override close(callback?: (error?: Error) => void): this {
    super.close(callback);
    for (const socket of [...this.#sniffing, ...this.#handshaking.values()]) socket.destroy();
    this.#sessions.close();
    // A keep-alive connection that is busy now must go as soon as it idles; Node does not see to that.
    const drain = setInterval(() => this.closeIdleConnections(), DRAIN_CHECK_MS);
    this.once("close", () => clearInterval(drain));
    return this;
  }

  /** Ends every connection at once, whatever runs on it. */
  override closeAllConnections(): void {
    super.closeAllConnections();
    const others = [this.#sniffing, this.#handshaking.values(), this.#http2Sockets];
    for (const socket of others.flatMap((sockets) => [...sockets])) socket.destroy();
  }

  /** Never listens: it is given this server's connections, and its decrypted ones go the common way. */
  #createTls({ cert, key, onRenewal }: Tls): TlsServer {
    const handshakeTimeout = this.#limits.firstBytesTimeoutMs;
    const server = createTlsServer({ cert, key, ALPNProtocols: ["h2", "http/1.1"], handshakeTimeout });
    server.on("tlsClientError", (error: NodeJS.ErrnoException, socket) => {
      if (error.code === "ERR_TLS_HANDSHAKE_TIMEOUT") this.#counts.cutOff.first_bytes += 1;
      socket.destroy();
    });
    onRenewal?.((files) => server.setSecureContext(files));
    return server.on("secureConnection", (socket) => {
      this.#handshaking.delete(remoteOf(socket));
      // What was agreed on (ALPN) is not looked at: the first bytes tell the same.
      this.#sniff(socket);
    });
  }

  #take(socket: Socket): void {
    if (!this.#connections.admit(socket)) {
      this.#counts.refused.address += 1;
      // By a reset: of whom there are too many, none lingers in TIME_WAIT.
      socket.resetAndDestroy();
      return;
    }
    // While it waits to be opened, nobody else listens.
    socket.on("error", () => socket.destroy());
    this.#counts.open += 1;
    socket.once("close", () => {
      this.#counts.open -= 1;
    });
    if (this.#tls === undefined) this.#sniff(socket);
    else this.#shakeHands(socket);
  }

  #shakeHands(socket: Socket): void {
    const remote = remoteOf(socket);
    this.#handshaking.set(remote, socket);
    socket.once("close", () => {
      if (this.#handshaking.get(remote) === socket) this.#handshaking.delete(remote);
    });
    this.#tls?.emit("connection", socket);
  }

  #sniff(socket: Socket): void {
    this.#sniffing.add(socket);
    socket.once("close", () => this.#sniffing.delete(socket));
    sniff(socket, {
      timeoutMs: this.#limits.firstBytesTimeoutMs,
      onTimeout: () => {
        this.#counts.cutOff.first_bytes += 1;
      },
      onProtocol: (protocol) => this.#openings.begin(() => this.#open(socket, protocol)),
    });
  }

  #open(socket: Socket, protocol: Protocol): void {
    this.#sniffing.delete(socket);
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
    // An HTTP/1 server lets its sockets be half-open; a session on such a one never ends.
    socket.allowHalfOpen = false;
    this.#http2.emit("connection", socket); // reads what is buffered by itself
  }
}

/** Tells it by the socket or stream: a request and its response hear of their end only later. */
function isGone(request: IncomingMessage | Http2ServerRequest): boolean {
  return "stream" in request ? (request.stream?.destroyed ?? true) : request.socket.destroyed;
}

function remoteOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function http1Options(limits: OnePortLimits): ServerOptions {
  return {
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    // Node's own answer would have no body: whoever handles requests refuses those without a host.
    requireHostHeader: false,
    maxHeaderSize: limits.headerBytesMax,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  };
}

/**
 * Takes over the listener with which Node turns a socket into an HTTP/1 connection. A second server
 * that never listens could be given the sockets instead, but Node would not enforce its timeouts.
 */
function takeConnectionListener(server: Server): (socket: Socket) => void {
  const [listener] = server.listeners("connection");
  if (listener === undefined)
    throw new Error("this version of Node accepts HTTP/1 connections in another way");
  server.removeAllListeners("connection");
  return listener as (socket: Socket) => void;
}
