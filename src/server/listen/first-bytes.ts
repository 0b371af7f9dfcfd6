import type { Socket } from "node:net";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

/** Number of bytes that tell the protocol: no HTTP/1 request begins with "PRI " (RFC 9113, 11.6). */
const TELLING_BYTES = 4;

export type Protocol = "http1" | "http2";

/** Returns which protocol a connection's first bytes belong to; undefined while they could be either's. */
export function protocolOf(head: Buffer): Protocol | undefined {
  const length = Math.min(head.length, TELLING_BYTES);
  if (!head.subarray(0, length).equals(PREFACE.subarray(0, length))) return "http1";
  return length < TELLING_BYTES ? undefined : "http2";
}

interface Sniffing {
  readonly timeoutMs: number;
  /** Called when the time is over, and the socket is about to be destroyed. */
  readonly onTimeout: () => void;
  readonly onProtocol: (protocol: Protocol) => void;
}

/**
 * Calls back when a socket's first bytes tell its protocol, with the socket paused and the bytes put back.
 * Sockets that fail, end or stay silent before that are destroyed.
 *
 * It listens for `data`: reading on `readable` and putting back spins while more bytes are awaited.
 */
export function sniff(socket: Socket, { timeoutMs, onTimeout, onProtocol }: Sniffing): void {
  let head: Buffer = Buffer.alloc(0);
  const giveUp = () => socket.destroy();
  const timer = setTimeout(() => {
    onTimeout();
    giveUp();
  }, timeoutMs);
  const stop = () => {
    clearTimeout(timer);
    socket.off("data", onData).off("error", giveUp).off("end", giveUp).off("close", stop);
  };
  const onData = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk]);
    const protocol = protocolOf(head);
    if (protocol === undefined) return; // a lone "P" may become POST as well
    stop();
    socket.pause();
    socket.unshift(head);
    onProtocol(protocol);
  };
  socket.on("data", onData).on("error", giveUp).on("end", giveUp).on("close", stop);
}
