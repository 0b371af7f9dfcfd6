import { chmod, lstat, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { RootDatabase } from "lmdb";
import { MemoryError } from "../../../errors.js";
import { FILE_MODE } from "../file.js";

/** Copies of the whole database as it is at one moment, while it is read and written. One at a time. */
export class DatabaseSnapshots {
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(private readonly root: RootDatabase) {}

  /**
   * Writes a copy into a new file: all that was answered before the call is in it, and free pages are
   * not. LMDB does it in a thread, from one read transaction.
   *
   * @throws MemoryError `failed_precondition` when another is being written, the folder is not there, or
   * the file is; `unavailable` when the file cannot be written.
   */
  async write(path: string): Promise<void> {
    if (this.#closed) throw refused("the database is being closed");
    if (this.#running !== undefined) throw refused("another backup is being taken");
    this.#running = this.#write(path);
    try {
      await this.#running;
    } finally {
      this.#running = undefined;
    }
  }

  /** Resolves when none is being written, nor ever will be: the database must not be closed before. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running?.catch(() => {});
  }

  async #write(path: string): Promise<void> {
    const folder = dirname(path);
    await stat(folder).catch(() => {
      throw refused(`the process that holds the database does not see the folder ${folder}`);
    });
    // What is removed below is then what was made here.
    if (await isThere(path)) throw refused(`${path} is there already; nothing is overwritten`);
    try {
      await this.root.backup(path, true);
      await chmod(path, FILE_MODE);
    } catch (error) {
      // What failed first is what is told.
      await rm(path, { force: true }).catch(() => {});
      const reason = error instanceof Error ? error.message : String(error);
      throw new MemoryError("unavailable", `the backup could not be written: ${reason}`, { cause: error });
    }
  }
}

/** Also a link that leads nowhere. */
function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

function refused(message: string): MemoryError {
  return new MemoryError("failed_precondition", message);
}
