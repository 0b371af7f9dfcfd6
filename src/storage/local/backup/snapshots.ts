import { chmod, lstat, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { RootDatabase } from "lmdb";
import { failedPrecondition } from "../../../errors.js";
import { FILE_MODE } from "../file.js";
import { unwritable } from "./back-up.js";

/** Makes copies of the whole database as of one moment, while it is in use. One copy runs at a time. */
export class DatabaseSnapshots {
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(
    private readonly root: RootDatabase,
    /** Writes what was answered and is only in memory. */
    private readonly options: { before(): Promise<void> },
  ) {}

  /**
   * Writes a copy into a new file: it holds all that was answered before the call, and no free pages.
   * LMDB does it in a thread, from one read transaction.
   *
   * @throws MemoryError `failed_precondition` when another copy is being written, the folder does not
   * exist, or the file does; `unavailable` when the file cannot be written.
   */
  async write(path: string): Promise<void> {
    if (this.#closed) throw failedPrecondition("the database is being closed");
    if (this.#running !== undefined) throw failedPrecondition("another backup is being taken");
    this.#running = this.#write(path);
    try {
      await this.#running;
    } finally {
      this.#running = undefined;
    }
  }

  /**
   * Waits for a copy that is being written, and refuses later ones. The database must not be closed
   * before.
   */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running?.catch(() => {});
  }

  async #write(path: string): Promise<void> {
    const folder = dirname(path);
    await stat(folder).catch(() => {
      throw failedPrecondition(`the process that holds the database does not see the folder ${folder}`);
    });
    // After this check, a file that is removed below was created here.
    if (await isThere(path)) throw failedPrecondition(`${path} is there already; nothing is overwritten`);
    try {
      await this.options.before();
      await this.root.backup(path, true);
      await chmod(path, FILE_MODE);
    } catch (error) {
      // The first failure is the one that is reported.
      await rm(path, { force: true }).catch(() => {});
      throw unwritable(error);
    }
  }
}

/** Tells whether a path exists; a dangling link does. */
function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
