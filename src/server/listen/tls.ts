import { constants, createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { createSecureContext, DEFAULT_CIPHERS, type SecureContextOptions } from "node:tls";
import type { FastifyBaseLogger } from "fastify";
import { callEvery, every } from "../../concurrency/every.js";
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

/** Groups of the key exchange by their numbers. */
export type Groups = ReadonlyMap<number, string>;

/**
 * Returns those that are taken, the best first. OpenSSL would also take others from a client that offers nothing else, up to
 * ffdhe8192, which holds the main thread for a third of a second in each handshake.
 */
export function takenGroups(): Groups {
  const groups = [
    [0x11ec, "X25519MLKEM768"],
    [0x001d, "X25519"],
    [0x0017, "P-256"],
  ] as const;
  return new Map(groups.filter(([, name]) => isKnownGroup(name)));
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

/** Options of a TLS context, which allow costly work only in the answer to a client's first message: that one waits. */
export function secureOptions(files: TlsFiles, groups: Groups): SecureContextOptions {
  return {
    ...files,
    ecdhCurve: [...groups.values()].join(":"),
    // RSA's key exchange decrypts the client's second message, which waits for nothing.
    ciphers: `${DEFAULT_CIPHERS}:!kRSA`,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  };
}

/** Bytes and records that a client's first message may take: most have 500 to 2,000, in one. */
const HELLO_MAX = { bytes: 16_384, records: 8 };
/** Kind of the records that handshakes are in, and bytes before the rest of a record and of a message in it. */
const HANDSHAKE = { kind: 22, recordHeadBytes: 5, messageHeadBytes: 4 };

/**
 * Returns a client's first message in a handshake once all of it is there. What takes time is the answer to it, which
 * waits for its turn: nothing may follow later that OpenSSL then answers at once. Undefined while more is awaited.
 */
export function readHello(bytes: Buffer): Buffer | "wrong" | undefined {
  const { kind, recordHeadBytes, messageHeadBytes } = HANDSHAKE;
  let message: Buffer = Buffer.alloc(0);
  for (let [at, records] = [0, 1]; at < bytes.length; records++) {
    if (bytes[at] !== kind || records > HELLO_MAX.records) return "wrong";
    const begin = at + recordHeadBytes;
    if (begin > bytes.length) break;
    at = begin + bytes.readUInt16BE(begin - 2);
    message = Buffer.concat([message, bytes.subarray(begin, at)]);
    if (message.length < messageHeadBytes) continue;
    const end = messageHeadBytes + message.readUIntBE(1, 3);
    if (message.length >= end) return message.subarray(0, end);
  }
  return bytes.length > HELLO_MAX.bytes ? "wrong" : undefined;
}

/** Bytes of a first message before its fields of varying length, and the extension that holds shares of keys. */
const HELLO = { headBytes: 38, keyShare: 51 };

/**
 * True if TLS 1.3 would ask a client for its first message once more, because it has sent shares of other groups only
 * (RFC 8446, 4.1.4): what it then sends costs as much, and cannot wait.
 */
export function wouldAskAgain(hello: Buffer, groups: Groups): boolean {
  let rest = hello.subarray(HELLO.headBytes);
  // The session, the ciphers and the compression.
  for (const lengthBytes of [1, 2, 1]) [, rest] = takeField(rest, lengthBytes);
  for (let [extensions] = takeField(rest, 2); extensions.length > 0; ) {
    const kind = numberIn(extensions, 2);
    const [extension, others] = takeField(extensions.subarray(2), 2);
    if (kind === HELLO.keyShare) return !sharedGroups(extension).some((group) => groups.has(group));
    extensions = others;
  }
  return false;
}

function sharedGroups(extension: Buffer): number[] {
  const groups: number[] = [];
  for (
    let [shares] = takeField(extension, 2);
    shares.length > 0;
    [, shares] = takeField(shares.subarray(2), 2)
  )
    groups.push(numberIn(shares, 2));
  return groups;
}

/** Splits behind a field that begins with its length. One that is cut off is what is there: OpenSSL refuses it. */
function takeField(bytes: Buffer, lengthBytes: number): [field: Buffer, rest: Buffer] {
  const end = lengthBytes + numberIn(bytes, lengthBytes);
  return [bytes.subarray(lengthBytes, end), bytes.subarray(end)];
}

function numberIn(bytes: Buffer, length: number): number {
  return bytes.subarray(0, length).reduce((number, byte) => 256 * number + byte, 0);
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
