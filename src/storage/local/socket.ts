import { chmod, mkdtemp, rm, symlink } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";

/** What fits a socket's address on every system (macOS: 104 bytes with the closing zero). */
const ADDRESS_BYTES_MAX = 103;
/** An owner that is stopped or overloaded does not refuse: it only takes long. */
const CONNECT_TIMEOUT_MS = 1000;

/** Listens on a socket file, for nothing but being found there. Does not keep the process alive. */
export async function listen(path: string): Promise<Server> {
  const server = createServer((connection) => connection.destroy()).unref();
  await withAddress(path, async (address) => {
    await new Promise<void>((done, reject) => server.once("error", reject).listen(address, done));
    await chmod(address, 0o600);
  });
  return server;
}

/** Whether a living process listens on a socket file. In doubt it does. */
export async function answers(path: string): Promise<boolean> {
  return withAddress(path, async (address) => {
    const connection = connect(address);
    const answer = await new Promise<boolean>((done) => {
      connection.setTimeout(CONNECT_TIMEOUT_MS, () => done(true));
      connection.once("connect", () => done(true));
      connection.once("error", ({ code }: NodeJS.ErrnoException) => {
        done(code !== "ECONNREFUSED" && code !== "ENOENT");
      });
    });
    connection.destroy();
    return answer;
  });
}

/** A socket's address is short, a path may be long: such a folder is reached by way of a link. */
async function withAddress<T>(path: string, work: (address: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(path) <= ADDRESS_BYTES_MAX) return work(path);
  const room = await mkdtemp(join(tmpdir(), "recalld-"));
  try {
    const link = join(room, "d");
    await symlink(resolve(dirname(path)), link);
    return await work(join(link, basename(path)));
  } finally {
    await rm(room, { recursive: true, force: true });
  }
}
