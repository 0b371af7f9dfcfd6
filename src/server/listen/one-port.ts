import type { EventEmitter } from "node:events";
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
import {
  createServer as createTlsServer,
  type SecureContextOptions,
  type Server as TlsServer,
} from "node:tls";
import { Buckets } from "../../concurrency/bucket.js";
import { callEvery } from "../../concurrency/every.js";
import { FairQueue } from "../../concurrency/yield-to-event-loop.js";
import { TrustedProxies } from "./client-address.js";
import { Http2Sessions, http2Options } from "./http2-sessions.js";
import { ConnectionCounts, ONE_PORT_LIMITS, type OnePortLimits } from "./one-port-limits.js";
import { cutSocket, dropUnread, LINGER_MS, OpenRequests } from "./open-requests.js";
import { readInSlices, runFairly } from "./read-in-slices.js";
import { endAfterRefusals, REFUSALS_RATE } from "./refusals.js";
import {
  joinWaiting,
  readHello,
  secureOptions,
  type Tls,
  type TlsFiles,
  TlsRecords,
  takenGroups,
  wouldAskAgain,
} from "./tls.js";

/** Time between two looks of a closing server for HTTP/1 connections that have become idle. */
const DRAIN_CHECK_MS = 100;
/** Time between Node's checks of its HTTP/1 timeouts; with its default of 30 s the timeouts mean little. */
const TIMEOUT_CHECK_MS = 1000;

/** Beginning of HTTP/2 with prior knowledge, with which no HTTP/1 request begins (RFC 9113, 11.6). */
const PREFACE = "PRI ";
/** Queue of handshakes, each of which holds the main thread for a millisecond: thousands may be asked for at once. */
const handshakes = new FairQueue(2);

/** What a one-port server is made with, beside limits other than the usual ones. */
export interface OnePortOptions extends Partial<OnePortLimits> {
  readonly tls?: Tls | undefined;
  /** Proxies, whose connections have no limit. */
  readonly proxies?: TrustedProxies;
  /** Refuses a request before the handler sees it; true if it did. */
  refuse?(request: IncomingMessage, response: ServerResponse): boolean;
}

/**
 * HTTP/1.1 server that also answers HTTP/2 on its port: with prior knowledge (h2c), or over TLS when given a
 * certificate. Requests of both kinds reach the same handler.
 *
 * It is made for Fastify: `Fastify({ serverFactory: (handler) => new OnePortServer(handler) })`. Fastify's
 * own timeouts do not reach a server that it did not make; the limits take their place.
 */
export class OnePortServer extends Server {
  /** HTTP/1 requests that come too slowly are counted by the listener of `clientError`. */
  readonly counts: ConnectionCounts;
  readonly #limits: OnePortLimits;
  readonly #http1: (socket: Socket) => void;
  readonly #http2: Http2Server;
  /** Returns what decrypts a connection that begins with a message. It never listens: it is handed connections. */
  readonly #tlsFor: ((hello: Buffer) => TlsServer) | undefined;
  readonly #records: TlsRecords;
  readonly #proxies: TrustedProxies;
  /** Connections by their ends. */
  readonly #sockets = new Map<string, Socket>();
  /** Those whose first bytes are awaited, the end of their handshake, or what they say over TLS. */
  readonly #silent = new Set<Socket>();
  readonly #sessions: Http2Sessions;
  readonly #refusals = new Buckets(REFUSALS_RATE);

  constructor(
    handler: RequestListener,
    { tls, proxies = new TrustedProxies([]), refuse = () => false, ...changed }: OnePortOptions = {},
  ) {
    const limits = { ...ONE_PORT_LIMITS, ...changed };
    super({
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      // Node's own answer would have no body: the handler of requests refuses those without a host.
      requireHostHeader: false,
      maxHeaderSize: limits.headerBytesMax,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    });
    this.#limits = limits;
    this.counts = new ConnectionCounts(limits.connectionsMax);
    this.#proxies = proxies;
    this.timeout = limits.silenceTimeoutMs;
    // A second server that never listens could be given the sockets instead, but Node would not enforce its timeouts.
    this.#http1 = takeListener(this, "connection");
    this.#http2 = createHttp2Server(http2Options(limits));
    this.#http2.on("request", (request, response) => this.emit("request", request, response));
    this.#sessions = new Http2Sessions(limits, this.counts, proxies);
    this.#http2.on("session", (session) => {
      this.#sessions.accept(session, proxies.ownerOf(session.socket));
      this.#watchRefusals(session, session.socket);
    });
    // Each stream is looked at before Node makes a request of it.
    const toRequest = takeListener(this.#http2, "stream");
    this.#http2.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags, sent) => {
      if (this.#sessions.acceptStream(stream, headers, sent))
        toRequest.call(this.#http2, stream, headers, flags, sent);
    });
    this.#records = new TlsRecords(this.counts.cutOff);
    this.#tlsFor = tls && this.#createTls(tls);
    this.on("connection", (socket: Socket) => this.#take(socket));
    const requests = new OpenRequests(limits, this.counts.cutOff);
    this.once("close", () => {
      requests.close();
      this.#records.close();
      this.#sessions.stop();
    });
    // The handler refuses it in words; the answer of Node would have no body.
    for (const server of [this, this.#http2])
      server.on("checkExpectation", (request, response) => this.emit("request", request, response));
    this.on("request", (request, response) => {
      if (!requests.begin(request, response)) return;
      dropUnread(request, response, limits.unreadTimeoutMs);
      request.clientAddress = proxies.addressOf(request);
      const serve = () => {
        if (!refuse(request, response)) handler(request, response);
      };
      if ("stream" in request) this.#sessions.serve(request, serve);
      else serve();
    });
  }

  /**
   * Takes no more connections, asks open ones to end once their running calls are answered, and calls back
   * when the last is gone. A stuck call holds this up: the caller sets the limit, and ends it with
   * `closeAllConnections`.
   */
  override close(callback?: (error?: Error) => void): this {
    super.close(callback);
    this.#sessions.close();
    const drain = callEvery(DRAIN_CHECK_MS, () => {
      // Whatever a silent connection had sent before has been read by now.
      for (const socket of this.#silent) socket.destroy();
      // One that has begun a session since is asked like the others.
      this.#sessions.close();
      // A keep-alive connection that is busy now must end as soon as it idles; Node does not do that.
      this.closeIdleConnections();
    });
    this.once("close", drain);
    return this;
  }

  override closeAllConnections(): void {
    super.closeAllConnections();
    for (const socket of this.#sockets.values()) socket.destroy();
  }

  #createTls({ follow, ...first }: Tls): (hello: Buffer) => TlsServer {
    const groups = takenGroups();
    const optionsFor = (files: TlsFiles) => secureOptions(files, groups);
    const [server, tls12] = [
      this.#createTlsServer(optionsFor(first)),
      this.#createTlsServer({ ...optionsFor(first), maxVersion: "TLSv1.2" }),
    ];
    const stop = follow?.((files) => {
      server.setSecureContext(optionsFor(files));
      tls12.setSecureContext({ ...optionsFor(files), maxVersion: "TLSv1.2" });
    });
    this.once("close", () => stop?.());
    return (hello) => (wouldAskAgain(hello, groups) ? tls12 : server);
  }

  #createTlsServer(options: SecureContextOptions): TlsServer {
    const server = createTlsServer({
      ...options,
      ALPNProtocols: ["h2", "http/1.1"],
      handshakeTimeout: this.#limits.firstBytesTimeoutMs,
    });
    server.on("tlsClientError", (error: NodeJS.ErrnoException, socket) => {
      if (error.code === "ERR_TLS_HANDSHAKE_TIMEOUT") this.counts.cutOff.first_bytes += 1;
      socket.destroy();
    });
    // The first bytes tell the protocol, and not what was agreed on (ALPN). Node answers 403 to HTTP/2 that was not.
    return server.on("secureConnection", (socket) => {
      const wire = this.#sockets.get(endsOf(socket));
      if (wire === undefined) return socket.destroy();
      this.#silent.delete(wire);
      socket.allowHalfOpen = true;
      joinWaiting(socket);
      this.#records.watch(socket, { wire, owner: this.#proxies.ownerOf(socket) });
      return this.#sniff(socket);
    });
  }

  #take(socket: Socket): void {
    const owner = this.#proxies.ownerOf(socket);
    const { connections, refused } = this.counts;
    const max = this.#proxies.areAt(socket) ? undefined : this.#limits.connectionsPerAddressMax;
    if (!connections.tryTake(owner, 1, max)) {
      refused[connections.heldBy(owner) === 0 ? "total" : "address"] += 1;
      // A reset: connections of a client that has too many must not linger in TIME_WAIT.
      socket.resetAndDestroy();
      return;
    }
    const ends = endsOf(socket);
    this.#sockets.set(ends, socket);
    socket.once("close", () => {
      // Its client may have reset it, and begun another from the same port.
      if (this.#sockets.get(ends) === socket) this.#sockets.delete(ends);
      this.#silent.delete(socket);
      connections.give(owner);
    });
    // No other listener is on it while it waits to be opened.
    socket.on("error", () => socket.destroy());
    if (this.#tlsFor === undefined) this.#sniff(socket);
    else this.#beginTls(socket, this.#tlsFor);
  }

  /** Decrypts a connection when its first message has arrived as a whole, and its turn has come. */
  #beginTls(socket: Socket, tlsFor: (hello: Buffer) => TlsServer): void {
    const tells = (head: Buffer) => readHello(head) !== undefined;
    const owner = this.#proxies.ownerOf(socket);
    this.#readHead(socket, tells, async (head) => {
      const hello = readHello(head);
      if (!(hello instanceof Buffer)) socket.destroy();
      else if (!this.#records.accepts(owner)) {
        this.counts.refused.address += 1;
        socket.destroy();
      } else {
        await handshakes.wait(owner);
        if (socket.destroyed) return;
        this.#silent.add(socket);
        // One whose client leaves in the middle of the handshake would stay open until its time is over.
        socket.allowHalfOpen = false;
        tlsFor(hello).emit("connection", socket);
      }
    });
  }

  /** Opens a connection when its first bytes tell its protocol. */
  #sniff(socket: Socket): void {
    // A lone "P" may become POST as well.
    const tells = (head: Buffer) => protocolOf(head) !== undefined;
    this.#readHead(socket, tells, (head) => {
      // Nobody else listens to one of TLS while it waits.
      socket.on("error", () => socket.destroy());
      const owner = this.#proxies.ownerOf(socket);
      // Thousands may send their first bytes at once, and each takes a twentieth of a millisecond.
      if (protocolOf(head) === "http1") runFairly(owner, 0, () => this.#openHttp1(socket));
      else this.#sessions.openFairly(owner, () => this.#openSession(socket));
    });
  }

  /**
   * Calls back when a connection has sent enough, with the bytes put back. One that fails, ends or stays silent before
   * that is destroyed.
   *
   * It listens for `data`: reading on `readable` and putting back spins while more bytes are awaited.
   */
  #readHead(socket: Socket, isEnough: (head: Buffer) => boolean, goOn: (head: Buffer) => unknown): void {
    let head: Buffer | undefined;
    const giveUp = () => socket.destroy();
    let late: NodeJS.Immediate | undefined;
    const timer = setTimeout(() => {
      // A process that slept meanwhile first reads what has come.
      late = setImmediate(() => {
        this.counts.cutOff.first_bytes += 1;
        giveUp();
      });
    }, this.#limits.firstBytesTimeoutMs);
    this.#silent.add(socket);
    const stop = () => {
      this.#silent.delete(socket);
      clearTimeout(timer);
      clearImmediate(late);
      socket.off("data", onData).off("error", giveUp).off("end", giveUp).off("close", stop);
    };
    const onData = (chunk: Buffer) => {
      head = head === undefined ? chunk : Buffer.concat([head, chunk]);
      if (!isEnough(head)) return;
      stop();
      socket.pause();
      socket.unshift(head);
      goOn(head);
    };
    socket.on("data", onData).on("error", giveUp).on("end", giveUp).on("close", stop);
  }

  #openHttp1(socket: Socket): void {
    if (socket.destroyed) return;
    this.#watchRefusals(socket, socket);
    this.#http1.call(this, socket);
    readInSlices(socket, { owner: this.#proxies.ownerOf(socket), parse: takeListener(socket, "data") });
    socket.resume();
  }

  #openSession(socket: Socket): void {
    if (socket.destroyed) return;
    if (!this.#sessions.accepts(this.#proxies.ownerOf(socket))) {
      this.counts.refused.address += 1;
      cutSocket(socket);
      return;
    }
    socket.once("finish", () => setTimeout(() => socket.destroy(), LINGER_MS).unref());
    // An HTTP/1 server allows half-open sockets; a session on such a one never ends.
    socket.allowHalfOpen = false;
    this.#http2.emit("connection", socket); // reads what is buffered by itself
  }

  #watchRefusals(connection: Socket | Http2Session, socket: Socket): void {
    if (this.#proxies.areAt(socket)) return;
    const { cutOff } = this.counts;
    endAfterRefusals(connection, { refusals: this.#refusals, owner: this.#proxies.ownerOf(socket), cutOff });
  }
}

/** The protocol that a connection's first bytes belong to; undefined while they could be either's. */
export function protocolOf(head: Buffer): "http1" | "http2" | undefined {
  const begun = head.toString("latin1", 0, PREFACE.length);
  if (!PREFACE.startsWith(begun)) return "http1";
  return begun === PREFACE ? "http2" : undefined;
}

/** Removes and returns the listener of Node's own, so that something can be done before it. */
function takeListener(emitter: EventEmitter, event: string): (...args: unknown[]) => void {
  const [listener] = emitter.listeners(event);
  if (listener === undefined) throw new Error(`this version of Node takes a ${event} in another way`);
  emitter.removeAllListeners(event);
  return listener as (...args: unknown[]) => void;
}

/** Ends of a connection, which it has alone, and what is decrypted of it as well. */
function endsOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}
