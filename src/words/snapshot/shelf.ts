import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { unavailable } from "../../errors.js";
import type { Mark } from "../../memory/ports/vectors.js";
import { draftOf, eraseFile, holdsInFile, logIdIn, pathOf, publish, readMark, wipeInFile } from "./file.js";

/**
 * Erases all files that are not read, such as those of other formats and drafts that a crash left: they may
 * hold what is deleted later. No index may be open.
 */
export async function eraseUnreadable(folder: string): Promise<void> {
  for (const name of await namesIn(folder)) {
    const of = { folder, logId: logIdIn(name) };
    const path = join(folder, name);
    const isRead =
      path === pathOf(of) &&
      (await readMark(of).then(
        () => true,
        () => false,
      ));
    if (!isRead) await rm(path, { recursive: true, force: true });
  }
}

/** The folder of all word indexes' files. All work on the file of one log is done in turn. */
export class Shelf {
  /** Callbacks by log id, called when a file had to be erased because a memory could not be wiped in it. */
  readonly onLost = new Map<string, () => void>();
  /** Last piece of work on each log's file, by log id. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(
    private readonly folder: string,
    /** Maximum size of all files, without the one that is being written. */
    private readonly folderBytesMax: number,
  ) {}

  /** Runs work after all earlier work on the log's file has ended, successfully or not. */
  inTurn<T>(logId: string, work: () => Promise<T>): Promise<T> {
    const running = (this.#turns.get(logId) ?? Promise.resolve()).then(work);
    const leave = () => {
      if (this.#turns.get(logId) === turn) this.#turns.delete(logId);
    };
    const turn: Promise<void> = running.then(leave, leave);
    this.#turns.set(logId, turn);
    return running;
  }

  /** Replaces the kept file by a draft that `write` writes. Later wipes are done in the new file. */
  async keep(logId: string, write: () => Promise<void>): Promise<void> {
    await this.inTurn(logId, async () => {
      await write();
      await publish({ folder: this.folder, logId });
    });
    await this.#makeRoom(logId);
  }

  erase(logId: string): Promise<void> {
    return this.inTurn(logId, () => this.#eraseNow(logId));
  }

  /** Overwrites memories in the file, if there is one. If that fails, the file is erased. */
  wipe(logId: string, sequences: readonly number[]): Promise<void> {
    return this.inTurn(logId, async () => {
      try {
        // A draft that a crash left behind is never read.
        await rm(draftOf({ folder: this.folder, logId }), { force: true });
        await wipeInFile({ folder: this.folder, logId }, sequences);
      } catch (error) {
        if (isMissing(error)) return;
        await this.#eraseNow(logId, error);
        this.onLost.get(logId)?.();
      }
    });
  }

  /** Selects the memories that the file holds. A damaged file is never read, so it holds none. */
  holds(logId: string, sequences: readonly number[]): Promise<number[]> {
    return this.inTurn(logId, () => holdsInFile({ folder: this.folder, logId }, sequences).catch(() => []));
  }

  markOf(logId: string): Promise<Mark | undefined> {
    return this.inTurn(logId, () => readMark({ folder: this.folder, logId }).catch(() => undefined));
  }

  /** Lists the logs that have files, whole or not. */
  async kept(): Promise<string[]> {
    return [...new Set((await namesIn(this.folder)).map(logIdIn))];
  }

  async #eraseNow(logId: string, cause?: unknown): Promise<void> {
    try {
      await eraseFile({ folder: this.folder, logId });
    } catch (error) {
      throw unavailable("a word index of this namespace could not be erased", cause ?? error);
    }
  }

  /** Erases the least recently written or read files until the rest fits; all can be rebuilt. */
  async #makeRoom(latest: string): Promise<void> {
    const files = await Promise.all((await namesIn(this.folder)).map((name) => this.#look(name)));
    let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    for (const file of files.sort((a, b) => a.usedMs - b.usedMs)) {
      if (bytes <= this.folderBytesMax) return;
      if (file.logId === latest) continue;
      await this.erase(file.logId);
      bytes -= file.bytes;
    }
  }

  async #look(name: string): Promise<{ logId: string; bytes: number; usedMs: number }> {
    // It may have been erased meanwhile.
    const stats = await stat(join(this.folder, name)).catch(() => undefined);
    return { logId: logIdIn(name), bytes: stats?.size ?? 0, usedMs: stats?.mtimeMs ?? 0 };
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    // The folder does not exist before the first file.
    if (isMissing(error)) return [];
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}
