import { once } from "node:events";
import { chmod, mkdtemp, rm, symlink } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { text as readAll } from "node:stream/consumers";

/** Maximum length of a socket's address on every system (macOS: 104 bytes with the closing zero). */
const ADDRESS_BYTES_MAX = 103;
/** Errors of a connection to a file on which no process listens, be it a socket or (on macOS) another file. */
const REFUSED = ["ECONNREFUSED", "ENOTSOCK"];
/** Maximum number of operators' commands at the same time. */
const CONNECTIONS_MAX = 16;
/** Time from a connection to its whole request, and maximum length of the request. */
const REQUEST_TIMEOUT_MS = 2000;
const REQUEST_CHARS_MAX = 65_536;

/**
 * Listens on a socket file and answers requests: a line each way, one for a connection. Only a request that is
 * being answered keeps the process alive.
 *
 * @returns a function that takes no more requests, and finishes the answers to those that have come.
 */
export async function listen(
  path: string,
  answer: (request: string) => Promise<string>,
): Promise<() => Promise<void>> {
  /** Connections that have not asked anything yet. */
  const silent = new Set<Socket>();
  const server = createServer((connection) => void serve(connection, { answer, silent })).unref();
  server.maxConnections = CONNECTIONS_MAX;
  await withAddress(path, async (address) => {
    await new Promise<void>((done, reject) => server.once("error", reject).listen(address, done));
    await chmod(address, 0o600);
  }).catch((error) => {
    server.close();
    throw error;
  });
  return () =>
    new Promise<void>((done) => {
      server.close(() => done());
      // Nothing would keep this process alive until they end by themselves.
      for (const connection of silent) connection.destroy();
    });
}

async function serve(
  connection: Socket,
  { answer, silent }: { answer: (request: string) => Promise<string>; silent: Set<Socket> },
): Promise<void> {
  connection.unref().on("error", () => connection.destroy());
  silent.add(connection);
  const request = await readRequest(connection);
  silent.delete(connection);
  // A process that only checks for others sends nothing.
  if (request === undefined) return void connection.destroy();
  connection.ref();
  connection.end(`${await answer(request)}\n`);
}

/** Reads a request; returns undefined when none arrives in time, or it is too long. */
function readRequest(connection: Socket): Promise<string | undefined> {
  return new Promise((resolve) => {
    let read = "";
    const timer = setTimeout(() => resolve(undefined), REQUEST_TIMEOUT_MS).unref();
    connection.setEncoding("utf8").on("data", (chunk: string) => {
      read += chunk;
      const end = read.indexOf("\n");
      if (end < 0 && read.length <= REQUEST_CHARS_MAX) return;
      clearTimeout(timer);
      resolve(end < 0 || end > REQUEST_CHARS_MAX ? undefined : read.slice(0, end));
    });
    connection.once("close", () => resolve(undefined));
  });
}

/**
 * Asks the process that listens on a socket file. It waits without a limit, because a copy of a large
 * database may take hours. Returns undefined when no process listens.
 *
 * @throws Error when the process ended without an answer.
 */
export async function ask(path: string, request: string): Promise<string | undefined> {
  return withAddress(path, async (address) => {
    const connection = connect(address);
    connection.write(`${request}\n`);
    const answer = await readAll(connection).catch((error: NodeJS.ErrnoException) => {
      if (["ENOENT", ...REFUSED].includes(error.code ?? "")) return undefined;
      throw error;
    });
    if (answer?.endsWith("\n") === false) throw new Error("the connection ended without an answer");
    return answer?.slice(0, -1);
  });
}

/** True if no process listens on a socket file any more; in doubt, false. */
export async function isDead(path: string): Promise<boolean> {
  return withAddress(path, async (address) => {
    const connection = connect(address);
    return once(connection, "connect")
      .then(
        () => false,
        ({ code = "" }: NodeJS.ErrnoException) => REFUSED.includes(code),
      )
      .finally(() => connection.destroy());
  });
}

/**
 * Calls `work` with an address for a path. An address is short and a path may be long, so such a folder
 * is reached through a link.
 */
async function withAddress<T>(path: string, work: (address: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(path) <= ADDRESS_BYTES_MAX) return work(path);
  const folder = await mkdtemp(join(tmpdir(), "recalld-"));
  try {
    const link = join(folder, "d");
    await symlink(resolve(dirname(path)), link);
    return await work(join(link, basename(path)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
