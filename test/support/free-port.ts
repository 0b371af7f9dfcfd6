import { once } from "node:events";
import { createServer } from "node:net";

/**
 * First port. It is below the ports that systems give to connections, so that a server can have it again
 * after a restart.
 */
const FIRST = 20_000;
const PORTS = 10_000;
const ATTEMPTS_MAX = 100;

/** Finds a port of 127.0.0.1 on which nothing listens. */
export async function freePort(): Promise<number> {
  for (let i = 0; i < ATTEMPTS_MAX; i++) {
    const port = FIRST + Math.floor(Math.random() * PORTS);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port from ${FIRST} to ${FIRST + PORTS - 1}`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
