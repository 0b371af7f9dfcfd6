import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyInstance } from "fastify";
import { MemoryError } from "../errors.js";

/** From the end of the calls that took too long to the end of their connections. */
const LAST_ANSWERS_MS = 100;

/** Begins to listen; answers the address. @throws MemoryError `failed_precondition`, naming the setting. */
export async function listen(
  app: FastifyInstance,
  { host, port, tls }: { host: string; port: number; tls?: unknown },
): Promise<string> {
  try {
    const address = await app.listen({ host, port });
    // Fastify, which did not make the server, does not know of its TLS.
    return tls === undefined ? address : address.replace(/^http:/, "https:");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE")
      throw new MemoryError("failed_precondition", `PORT ${port} on ${host} is in use`);
    if (code === "EACCES")
      throw new MemoryError("failed_precondition", `PORT ${port} on ${host} needs privileges`);
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
      throw new MemoryError("failed_precondition", `HOST ${host} is not an address of this machine`);
    }
    throw error;
  }
}

/** After readiness has been withdrawn, calls that are on their way are still taken for so long. */
const LAME_DUCK_MS = 500;

/** Lets running calls finish; those that take longer are ended with `unavailable`. */
export async function drain(
  app: FastifyInstance,
  { shutdown, timeoutMs }: { shutdown: AbortController; timeoutMs: number },
): Promise<void> {
  const stop = setTimeout(() => {
    shutdown.abort(new ConnectError("the server is shutting down", Code.Unavailable));
    // The answers just given need a moment to leave.
    setTimeout(() => app.server.closeAllConnections(), LAST_ANSWERS_MS);
  }, timeoutMs);
  await sleep(Math.min(LAME_DUCK_MS, timeoutMs));
  await app.close();
  clearTimeout(stop);
}
