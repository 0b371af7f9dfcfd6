import { setTimeout as sleep } from "node:timers/promises";
import { MemoryError } from "../../src/errors.js";
import type { FindPlace } from "./remote.js";

/** Time in which the server of a folder must be found or started: a model may have to be loaded. */
const FIND_TIMEOUT_MS = 60_000;
const LOOK_MS = 100;

/** Ways to a server of a folder; only one process may have the folder open. */
export interface Folder {
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

/** Tells whether another process is only just taking the folder, or leaving it. */
function isPassing(error: unknown): boolean {
  return (
    error instanceof MemoryError && (error.code === "unavailable" || error.code === "failed_precondition")
  );
}
