import { connect, type Socket } from "node:net";

const TIMEOUT_MS = 10_000;

/** A connection on which bytes are written exactly as given. */
export interface RawConnection {
  readonly socket: Socket;
  write(bytes: string | Uint8Array): void;
  /** Resolves with everything received, once it matches. */
  received(pattern: RegExp): Promise<string>;
  /** Resolves with everything received, once the other side has closed. */
  ended(): Promise<string>;
  close(): void;
}

export function openRaw(port: number): RawConnection {
  const socket = connect({ port, host: "127.0.0.1" });
  let text = "";
  let closed = false;
  let onNews = () => {};
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    onNews();
  });
  // A reset is an end like any other.
  socket.on("error", () => {});
  socket.on("close", () => {
    closed = true;
    onNews();
  });
  const until = (done: () => boolean) =>
    new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`waited in vain; heard: ${text}`)), TIMEOUT_MS);
      onNews = () => {
        if (!done() && !closed) return;
        clearTimeout(timer);
        if (done()) resolve(text);
        else reject(new Error(`closed too early; heard: ${text}`));
      };
      onNews();
    });
  return {
    socket,
    write: (bytes) => void socket.write(bytes),
    received: (pattern) => until(() => pattern.test(text)),
    ended: () => until(() => closed),
    close: () => void socket.destroy(),
  };
}

/** Writes one request, and returns everything received until the server closed the connection. */
export async function exchange(port: number, request: string | Uint8Array): Promise<string> {
  const connection = openRaw(port);
  connection.write(request);
  return connection.ended();
}
