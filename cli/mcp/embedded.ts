import { link, readFile, rm, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { MemoryError } from "../../src/errors.js";
import type { FindPlace } from "./remote.js";

/** Time in which the server of a folder must be found or started: a model may have to be loaded. */
const FIND_TIMEOUT_MS = 60_000;
const LOOK_MS = 100;

/** Ways to a server of a folder; only one process may have the folder open. */
interface Folder {
  /** Asks the process that has the folder for its address; undefined if none has it. */
  addressOfOwner(): Promise<string | undefined>;
  /** Opens the folder in this process, and serves it. @throws MemoryError if another has it */
  serveHere(): Promise<string>;
  /** Returns the key for the folder's memories, and makes one the first time. */
  key(): Promise<string>;
}

/**
 * Finds the server of a folder that several sessions share. The first session serves it; the others find it.
 * When it ends, the next one that calls serves in its place.
 */
export function sharing(folder: Folder): FindPlace {
  return async () => {
    const endMs = performance.now() + FIND_TIMEOUT_MS;
    for (;;) {
      try {
        const url = (await folder.addressOfOwner()) ?? (await folder.serveHere());
        return { url, key: await folder.key() };
      } catch (error) {
        if (!isPassing(error)) throw error;
      }
      if (performance.now() > endMs) throw new MemoryError("unavailable", "no server could be started");
      await sleep(LOOK_MS);
    }
  };
}

/** True if another process is only just taking the folder, or leaving it. */
function isPassing(error: unknown): boolean {
  return (
    error instanceof MemoryError && (error.code === "unavailable" || error.code === "failed_precondition")
  );
}

/**
 * Returns the key in a file that only its owner may read; if there is none, makes one and writes it. Of two
 * processes that do so at once, both get the key of the one that was first.
 */
export async function keyIn(path: string, make: () => Promise<string>): Promise<string> {
  const kept = await read(path);
  if (kept !== undefined) return kept;
  const written = `${path}.${process.pid}`;
  await writeFile(written, `${await make()}\n`, { mode: 0o600 });
  try {
    // A link appears whole or not at all, and never in the place of another's.
    await link(written, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await rm(written, { force: true });
  }
  return (await read(path)) ?? keyIn(path, make);
}

async function read(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
