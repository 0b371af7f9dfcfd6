import type { Socket } from "node:net";
import { createServer, type Server } from "node:tls";
import type { Tls } from "./tls.js";

interface Handshaking {
  /** Maximum duration of a handshake. */
  readonly timeoutMs: number;
  readonly onTimeout: () => void;
  /** Called with the decrypted connection. */
  readonly onSecure: (socket: Socket) => void;
}

/** Decrypts connections. Its TLS server never listens: another server hands it connections. */
export class TlsHandshakes {
  readonly #server: Server;
  /** Connections whose handshake is not over, by the other side's address and port. */
  readonly #under = new Map<string, Socket>();

  constructor({ cert, key, onRenewal }: Tls, { timeoutMs, onTimeout, onSecure }: Handshaking) {
    this.#server = createServer({
      cert,
      key,
      ALPNProtocols: ["h2", "http/1.1"],
      handshakeTimeout: timeoutMs,
    });
    this.#server.on("tlsClientError", (error: NodeJS.ErrnoException, socket) => {
      if (error.code === "ERR_TLS_HANDSHAKE_TIMEOUT") onTimeout();
      socket.destroy();
    });
    onRenewal?.((files) => this.#server.setSecureContext(files));
    this.#server.on("secureConnection", (socket) => {
      this.#under.delete(remoteOf(socket));
      onSecure(socket);
    });
  }

  begin(socket: Socket): void {
    const remote = remoteOf(socket);
    this.#under.set(remote, socket);
    socket.once("close", () => {
      if (this.#under.get(remote) === socket) this.#under.delete(remote);
    });
    this.#server.emit("connection", socket);
  }

  /** Destroys the connections whose handshake is not over. */
  end(): void {
    for (const socket of [...this.#under.values()]) socket.destroy();
  }
}

function remoteOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
