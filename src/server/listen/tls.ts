import { constants, createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { createSecureContext, DEFAULT_CIPHERS, type SecureContext, TLSSocket } from "node:tls";
import type { FastifyBaseLogger } from "fastify";
import { callEvery, every } from "../../concurrency/every.js";
import { FairQueue } from "../../concurrency/yield-to-event-loop.js";
import { failedPrecondition } from "../../errors.js";
import type { ConnectionCounts } from "./one-port-limits.js";
import { OVERHEAD_CHECK_MS, Overhead } from "./overhead.js";

/** Time between two looks at the files, after which a renewed certificate is served. */
export const RENEWAL_CHECK_MS = 5_000;

/** Certificate (with its chain) and its key, in PEM. */
export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Certificate to serve, and a way to follow its renewal. */
export interface Tls extends TlsFiles {
  /** Looks at the files from now on, and calls back with each renewal; returns a function that ends it. */
  follow?(serve: (files: TlsFiles) => void): () => unknown;
}

interface FileNames {
  readonly certFile: string;
  readonly keyFile: string;
}

/**
 * Reads what HTTPS needs. A renewal that cannot be served is logged once, and the earlier certificate is served on.
 *
 * @throws MemoryError `failed_precondition`, naming the setting.
 */
export async function openTls(
  names: FileNames,
  logger: Pick<FastifyBaseLogger, "info" | "error">,
): Promise<Tls> {
  const first = await read(names);
  check(first, names);
  const follow: Tls["follow"] = (serve) => {
    let [serving, trouble]: [TlsFiles, string | undefined] = [first, undefined];
    const renew = async () => {
      const files = await read(names);
      const isSame = files.cert.equals(serving.cert) && files.key.equals(serving.key);
      if (!isSame) check(files, names);
      trouble = undefined;
      if (isSame) return;
      serving = files;
      serve(files);
      logger.info("the certificate was renewed");
    };
    const onTrouble = (error: unknown) => {
      if (String(error) !== trouble) logger.error({ err: error }, "the certificate cannot be renewed");
      trouble = String(error);
    };
    // It may have been renewed before there was a server: loading the model may take long.
    return every(renew, { everyMs: RENEWAL_CHECK_MS, immediately: true, onTrouble });
  };
  return { ...first, follow };
}

async function read({ certFile, keyFile }: FileNames): Promise<TlsFiles> {
  return { cert: await readSetting("TLS_CERT", certFile), key: await readSetting("TLS_KEY", keyFile) };
}

/**
 * Checks that a certificate and a key belong together, so that a mistake is found at the start and not by the
 * first visitor.
 *
 * @throws MemoryError `failed_precondition`, naming the setting.
 */
function check({ cert, key }: TlsFiles, files: FileNames): void {
  parse(`TLS_CERT ${files.certFile} does not hold a certificate in PEM`, () => new X509Certificate(cert));
  parse(`TLS_KEY ${files.keyFile} does not hold a key without a passphrase in PEM`, () =>
    createPrivateKey(key),
  );
  const mismatch = `TLS_KEY ${files.keyFile} is not the key of TLS_CERT's certificate`;
  parse(mismatch, () => createSecureContext({ cert, key }));
}

async function readSetting(setting: string, file: string): Promise<Buffer> {
  return readFile(file).catch(({ message }: Error) => {
    throw failedPrecondition(`${setting} ${file} cannot be read: ${message}`);
  });
}

/**
 * Groups of the key exchange, the best first. OpenSSL would also take others from a client that offers nothing else, up to
 * ffdhe8192, which holds the main thread for a third of a second in each handshake.
 */
const GROUPS = ["X25519MLKEM768", "X25519", "P-256"];

/** Makes what handshakes begin with. Only the answer to a client's first message may cost much, because that one waits. */
export function secureContextOf(files: TlsFiles): SecureContext {
  return createSecureContext({
    ...files,
    ecdhCurve: GROUPS.filter(isKnownGroup).join(":"),
    // With RSA's key exchange, the second message would cost as much as the first.
    ciphers: `${DEFAULT_CIPHERS}:!kRSA`,
    honorCipherOrder: true,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  });
}

/** True if this version of OpenSSL has a group. */
function isKnownGroup(ecdhCurve: string): boolean {
  try {
    createSecureContext({ ecdhCurve });
    return true;
  } catch {
    return false;
  }
}

/** Queue of handshakes, each of which holds the main thread for a millisecond: thousands may be asked for at once. */
export const handshakes = new FairQueue(2);

/** What Node's TLS server does to the connections that it makes itself. */
interface NodeTlsSocket {
  /** False lets HTTP/2 begin at once. */
  secureConnecting: boolean;
  /** Has errors emitted as such. */
  _releaseControl(): void;
  /** Can stop at a first message until it is told to go on. */
  readonly ssl: { oncertcb(): void; enableCertCb(): void; certCbDone(): void };
}

/**
 * Begins the handshake of a connection whose first message has come and waited for its turn, and calls back when it is
 * done. Node's TLS server is not used: it hands on a connection only then, and leaves one open that its client has left before.
 */
export function beginHandshake(
  wire: Socket,
  { context, owner }: { readonly context: SecureContext; readonly owner: string },
  onDone: () => void,
): TLSSocket {
  const options = { isServer: true, secureContext: context, ALPNProtocols: ["h2", "http/1.1"] };
  const socket = new TLSSocket(wire, options) as TLSSocket & NodeTlsSocket;
  const giveUp = () => socket.destroy();
  socket.on("error", giveUp).on("end", giveUp);
  socket.once("secure", () => {
    socket.off("end", giveUp);
    socket.secureConnecting = false;
    socket._releaseControl();
    onDone();
  });
  // OpenSSL has read the first message by now. It may have asked for another one (RFC 8446, 4.1.4), which waits as well.
  setImmediate(() => {
    if (socket.destroyed) return;
    const { ssl } = socket;
    ssl.oncertcb = () => void handshakes.ask(owner, 0, () => socket.destroyed || ssl.certCbDone());
    ssl.enableCertCb();
  });
  return socket;
}

/** Bytes and records that a client's first message may take: most have 500 to 2,000, in one. */
const HELLO_MAX = { bytes: 16_384, records: 8 };
/** Kind of the records that handshakes are in, and bytes before the rest of a record and of a message in it. */
const HANDSHAKE = { kind: 22, recordHeadBytes: 5, messageHeadBytes: 4 };

/**
 * Looks whether a client has sent the whole first message of a handshake. What takes time is the answer to it, which
 * waits for its turn: nothing may follow later that OpenSSL then answers at once. Undefined while more is awaited.
 */
export function readHello(bytes: Buffer): "whole" | "wrong" | undefined {
  const { kind, recordHeadBytes, messageHeadBytes } = HANDSHAKE;
  let message: Buffer = Buffer.alloc(0);
  for (let [at, records] = [0, 1]; at < bytes.length; records++) {
    if (bytes[at] !== kind || records > HELLO_MAX.records) return "wrong";
    const begin = at + recordHeadBytes;
    if (begin > bytes.length) break;
    at = begin + bytes.readUInt16BE(begin - 2);
    message = Buffer.concat([message, bytes.subarray(begin, at)]);
    if (message.length < messageHeadBytes) continue;
    if (message.length - messageHeadBytes >= message.readUIntBE(1, 3)) return "whole";
  }
  return bytes.length > HELLO_MAX.bytes ? "wrong" : undefined;
}

/** Factor of the bytes of records that say next to nothing: OpenSSL takes so much longer for them than HTTP/2 for frames. */
export const RECORD_TIMES = 4;

/** Bytes of the largest record. So many may have arrived of one that is not decrypted yet. */
const RECORD_BYTES_MAX = 16_645;

interface OpenTls {
  /** The connection that is decrypted, whose bytes are those of the records. */
  readonly wire: Socket;
  readonly owner: string;
  /** Bytes of its records less twice the bytes that they said, at the last look. */
  lastExcessBytes: number;
}

/**
 * Ends TLS connections that send records of a few bytes, or that say nothing, such as changes of keys. Node tells nothing
 * of them, and a megabyte of them holds the main thread for a third of a second.
 */
export class TlsRecords {
  readonly #open = new Map<Socket, OpenTls>();
  readonly #overhead = new Overhead();
  readonly close = callEvery(OVERHEAD_CHECK_MS, () => this.#checkOverhead());

  constructor(private readonly cutOff: ConnectionCounts["cutOff"]) {}

  /** True if the owner of a connection may begin one. */
  accepts(owner: string): boolean {
    return this.#overhead.accepts(owner);
  }

  /** Watches a connection from the end of its handshake on. */
  watch(socket: Socket, { wire, owner }: Pick<OpenTls, "wire" | "owner">): void {
    this.#open.set(socket, { wire, owner, lastExcessBytes: excessOf(socket, wire) });
    socket.once("close", () => this.#open.delete(socket));
  }

  #checkOverhead(): void {
    for (const [socket, open] of this.#open) {
      const bytes = excessOf(socket, open.wire);
      const more = Math.max(0, bytes - RECORD_BYTES_MAX - open.lastExcessBytes);
      // Large records lower it, but earn nothing for small ones that come later.
      open.lastExcessBytes = Math.min(bytes, open.lastExcessBytes + more);
      if (more === 0 || this.#overhead.allows(open.owner, RECORD_TIMES * more)) continue;
      this.cutOff.request += 1;
      socket.destroy();
    }
  }
}

function excessOf(socket: Socket, wire: Socket): number {
  return wire.bytesRead - 2 * socket.bytesRead;
}

/** Chunks that a paused connection holds before they are joined. */
const WAITING_CHUNKS_MAX = 256;

/**
 * Joins what a paused connection holds. Each record is a chunk of its own, and Node reads on until 16 KiB wait: in records
 * of a byte they would take four megabytes, and a few hundred connections of a stranger all memory.
 */
export function joinWaiting(socket: Readable): void {
  const push = socket.push.bind(socket);
  let waiting = 0;
  socket.push = (chunk, ...rest) => {
    waiting = socket.isPaused() && socket.readableLength > 0 ? waiting + 1 : 0;
    if (waiting < WAITING_CHUNKS_MAX || chunk === null) return push(chunk, ...rest);
    waiting = 0;
    const listeners = socket.rawListeners("data") as ((bytes: Buffer) => void)[];
    // They would be given what is read here.
    socket.removeAllListeners("data");
    const before: Buffer = socket.read();
    for (const listener of listeners) socket.on("data", listener);
    // Put back after the chunk, what was read would leave Node to believe that more is being read already.
    return push(Buffer.concat([before, chunk]), ...rest);
  };
}

function parse(otherwise: string, make: () => unknown): void {
  try {
    make();
  } catch (error) {
    throw failedPrecondition(otherwise, { cause: error });
  }
}
