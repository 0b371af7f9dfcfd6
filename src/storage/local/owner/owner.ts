import { randomBytes } from "node:crypto";
import { mkdir, readdir, rename, rm, rmdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorCode, MemoryError, unavailable } from "../../../errors.js";
import { ask, isDead, listen } from "./socket.js";

/** Request of an operator's command to the process that owns the folder. */
interface OwnerRequest {
  readonly operation: string;
  readonly given: Readonly<Record<string, unknown>>;
}

/** Handles requests; throws MemoryError. */
export type Answering = (request: OwnerRequest) => Promise<unknown>;

interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly code: ErrorCode; readonly message: string };
}

const MASKED = new MemoryError("internal", "the server could not do this; it is a fault of ours");

/** Time to wait for an owner that is about to leave, such as an operator's command. */
export const RELEASE_WAIT_MS = 1000;
/**
 * Pause between two attempts. Each takes a place in the queue of a stopped owner's socket, and on macOS a
 * full queue refuses, as if the owner were dead.
 */
const ATTEMPT_PAUSE_MS = 50;

/** Folder in DATA_DIR that holds the owner's socket and nothing else. */
const OWNER = "owner";
/** Prefix of the folders of processes that want to become the owner. */
const CLAIM = "claim-";
/** What a rename says of a folder that is not empty: POSIX allows both. */
const OCCUPIED = ["ENOTEMPTY", "EEXIST"];
/** Answer of a process that has the folder and answers no requests. */
const BUSY = "busy";

interface Folder {
  readonly dataDir: string;
  /** Handles requests of other processes; without it, none are handled. */
  readonly answer?: Answering | undefined;
}

/** Error of a folder that another process has and keeps. */
export class FolderInUseError extends MemoryError {
  constructor(dataDir: string) {
    super("failed_precondition", `DATA_DIR ${dataDir} is in use by another recalld`);
  }
}

/**
 * Makes this process the only owner of the folder, before it opens anything there: LMDB files do not
 * tolerate a second process that opens them while the first one writes.
 *
 * A process that wants the folder listens on a socket in a subfolder of its own, and renames that to
 * `owner`. The kernel allows this only while `owner` is missing or empty, so one process has it, however long
 * each of them pauses between two steps. The kernel closes a socket with its process, however that ends, and
 * the next process removes a closed one. No name is used twice, so a late removal never meets another's. No
 * lock remains, and a reused process id does no harm. It works across containers that share a volume, because
 * a socket is found by its file.
 *
 * @returns a function that gives the folder up.
 * @throws FolderInUseError when another process has the folder and keeps it.
 */
export async function claim({ dataDir, answer }: Folder): Promise<() => Promise<void>> {
  const deadline = performance.now() + RELEASE_WAIT_MS;
  for (;;) {
    const release = (await isFree(dataDir)) ? await take({ dataDir, answer }) : undefined;
    if (release !== undefined) return release;
    if (performance.now() > deadline) throw new FolderInUseError(dataDir);
    await sleep(ATTEMPT_PAUSE_MS);
  }
}

/** True if no process has the folder; sockets of dead ones are removed. */
async function isFree(dataDir: string): Promise<boolean> {
  for (const path of await socketsIn(dataDir)) {
    if (!(await isDead(path))) return false;
    await rm(path, { force: true });
  }
  return true;
}

/** Takes a free folder; returns undefined when another process was faster. */
async function take({ dataDir, answer }: Folder): Promise<(() => Promise<void>) | undefined> {
  const id = randomBytes(6).toString("hex");
  const [claiming, owner] = [join(dataDir, `${CLAIM}${id}`), join(dataDir, OWNER)];
  const socket = `${id}.sock`;
  let stop: (() => Promise<void>) | undefined;
  const release = async () => {
    await stop?.();
    await rm(claiming, { recursive: true, force: true });
    await rm(join(owner, socket), { force: true });
    // Another process may have it by now.
    await rmdir(owner).catch(on(["ENOENT", ...OCCUPIED], undefined));
  };
  await mkdir(claiming, { mode: 0o700 });
  try {
    // Others see the socket only when it listens, so one that refuses belongs to a dead process.
    stop = await listen(join(claiming, socket), answer ? answering(answer) : async () => BUSY);
    await rename(claiming, owner);
  } catch (error) {
    // An owner removes the folders of the others.
    const isRemoved = !(await readdir(dataDir).catch(() => [""])).includes(basename(claiming));
    await release();
    return isRemoved ? undefined : on(OCCUPIED, undefined)(error as NodeJS.ErrnoException);
  }
  // What cannot be removed now is removed by the next owner.
  await removeClaims(dataDir).catch(() => {});
  return release;
}

/** Removes what processes that were killed have left, and folders of those that come too late. */
async function removeClaims(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (name.startsWith(CLAIM)) await rm(join(dataDir, name), { recursive: true, force: true });
  }
}

/**
 * Asks the process that owns the folder; returns undefined when none answers there.
 *
 * @throws MemoryError that it answers; `unavailable` when it ended without an answer.
 */
export async function askOwner(
  dataDir: string,
  request: Parameters<Answering>[0],
): Promise<{ result: unknown } | undefined> {
  for (const path of await socketsIn(dataDir)) {
    const line = await ask(path, JSON.stringify(request)).catch((error) => {
      throw unavailable(`the process that owns DATA_DIR ${dataDir} went away`, error);
    });
    if (line !== undefined && line !== BUSY) return { result: resultIn(line) };
  }
  return undefined;
}

/** True if a folder in DATA_DIR is the owner's, or of a process that wants to become the owner, dead ones included. */
export function isOfOwners(name: string): boolean {
  return name === OWNER || name.startsWith(CLAIM);
}

/** Returns the paths of the owner's socket, and of those that dead ones left. */
async function socketsIn(dataDir: string): Promise<string[]> {
  const owner = join(dataDir, OWNER);
  const names = await readdir(owner).catch(on(["ENOENT"], []));
  return names.map((name) => join(owner, name));
}

/** Makes a value of the errors that have one of some codes; others are thrown. */
function on<T>(codes: readonly string[], value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (codes.includes(error.code ?? "")) return value;
    throw error;
  };
}

/**
 * Wraps a function so that it answers in lines of JSON. Errors other than MemoryError are not described,
 * because they may hold a text.
 */
function answering(answer: Answering): (line: string) => Promise<string> {
  return async (line) => {
    try {
      return JSON.stringify({ result: (await answer(JSON.parse(line))) ?? null });
    } catch (error) {
      const { code, message } = error instanceof MemoryError ? error : MASKED;
      return JSON.stringify({ error: { code, message } });
    }
  };
}

/** Returns the result in a line that `answering` made. @throws the MemoryError that is in it. */
function resultIn(line: string): unknown {
  const { result, error } = JSON.parse(line) as Answer;
  if (error !== undefined) throw new MemoryError(error.code, error.message);
  return result;
}
