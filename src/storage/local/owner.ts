import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import type { Server } from "node:net";
import { join } from "node:path";
import { MemoryError } from "../../errors.js";
import type { Meta } from "./facts.js";
import { type Answering, answering } from "./request.js";
import { answers, listen } from "./socket.js";

/** Whose turn it is may change that often while we ask; more means that something is odd. */
const ROUNDS_MAX = 10;

interface Folder {
  readonly dataDir: string;
  readonly meta: Meta;
  /** Answers what other processes ask the owner; left out, all of it is refused. */
  readonly answer?: Answering | undefined;
}

/**
 * Makes this process the one owner of the folder. The owner listens on a socket there, under a name
 * of its own that the database remembers. The kernel closes a socket with its process, however that
 * ends: no lock is left behind, and no process id is taken for another. It works across containers
 * that share a volume, because the socket is found by its file.
 *
 * @returns what gives the folder up again.
 * @throws MemoryError `failed_precondition` when another process owns it.
 */
export async function claim(folder: Folder): Promise<() => Promise<void>> {
  const name = `owner-${randomBytes(6).toString("hex")}.sock`;
  const path = join(folder.dataDir, name);
  // Before the name is known: an owner that is on record and does not answer is dead.
  const server = await listen(path, answering(folder.answer ?? refuse(folder)));
  const release = () => close(server, path);
  try {
    await takeOver(folder, name);
    return release;
  } catch (error) {
    await release();
    throw error;
  }
}

/** The path of the socket on which the folder's owner listens, if it has one and that is alive. */
export async function findOwner({ dataDir, meta }: Omit<Folder, "answer">): Promise<string | undefined> {
  const name = ownerOf(meta);
  const path = name && join(dataDir, name);
  return path !== undefined && (await answers(path)) ? path : undefined;
}

function refuse({ dataDir }: Folder): Answering {
  return async () => {
    throw inUse(dataDir);
  };
}

function inUse(dataDir: string): MemoryError {
  return new MemoryError("failed_precondition", `DATA_DIR ${dataDir} is in use by another recalld`);
}

async function takeOver({ dataDir, meta }: Folder, name: string): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const owner = ownerOf(meta);
    if (owner !== undefined && (await answers(join(dataDir, owner)))) break;
    if (!replace(meta, { owner, by: name })) continue;
    if (owner !== undefined) await rm(join(dataDir, owner), { force: true });
    return;
  }
  throw inUse(dataDir);
}

/** Of several that find the same owner dead, one takes its place. */
function replace(meta: Meta, { owner, by }: { owner: string | undefined; by: string }): boolean {
  return meta.transactionSync(() => {
    if (meta.get("owner") !== owner) return false;
    meta.putSync("owner", by);
    return true;
  });
}

/**
 * Read in a write transaction: a read-only one marks its place by process id, and two containers may
 * have the same.
 */
function ownerOf(meta: Meta): string | undefined {
  return meta.transactionSync(() => meta.get("owner")) as string | undefined;
}

async function close(server: Server, path: string): Promise<void> {
  await new Promise((done) => server.close(done));
  await rm(path, { force: true });
}
