import { chmod, lstat, mkdtemp, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { RootDatabase } from "lmdb";
import { failedPrecondition, MemoryError, messageOf, unavailable } from "../../../errors.js";
import { makeFolder } from "../../../make-folder.js";
import { FILE, FILE_MODE, LOCK } from "../file.js";
import { type BackupManifest, flush, readContents, writeManifest } from "./manifest.js";

interface BackUpOptions {
  /** Path of the backup's folder, which must not exist. */
  readonly folder: string;
  /** Writes a copy of the database, from a moment after the call, into a new file. */
  copy(path: string): Promise<void>;
}

/**
 * Takes a backup: a folder with a copy of the database and a manifest. It is made under another name and
 * renamed when the disk has all of it, so an interruption leaves nothing under `folder`.
 *
 * @throws MemoryError `failed_precondition` when the folder exists, `unavailable` when it cannot be
 * written.
 */
export async function backUp({ copy, ...given }: BackUpOptions): Promise<BackupManifest> {
  const folder = resolve(given.folder);
  await expectNone(folder);
  const draft = await draftOf(folder).catch((error) => {
    throw unwritable(error);
  });
  try {
    const begunAt = new Date().toISOString();
    const file = join(draft, FILE);
    await copy(file);
    await flush(file);
    const found = await readContents(file);
    await rm(join(draft, LOCK), { force: true });
    const manifest = await writeManifest(draft, { begun_at: begunAt, ...found });
    await flush(draft);
    // Another one may have been created meanwhile.
    await expectNone(folder);
    await rename(draft, folder);
    await flush(dirname(folder));
    return manifest;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error instanceof MemoryError ? error : unwritable(error);
  }
}

async function draftOf(folder: string): Promise<string> {
  makeFolder(dirname(folder));
  return mkdtemp(`${folder}.partial-`);
}

/** Expects that a path does not exist; a dangling link does. */
async function expectNone(path: string): Promise<void> {
  const isThere = await lstat(path).then(
    () => true,
    () => false,
  );
  if (isThere) throw failedPrecondition(`${path} is there already; nothing is overwritten`);
}

function unwritable(error: unknown): MemoryError {
  return unavailable(`the backup could not be written: ${messageOf(error)}`, error);
}

/**
 * Makes copies of the whole database as of one moment, while it is in use. One copy runs at a time.
 *
 * @param before writes what was answered and is only in memory
 */
export function openSnapshots(root: RootDatabase, before: () => Promise<void>) {
  let running: Promise<void> | undefined;
  let isClosed = false;
  const copy = async (path: string) => {
    const folder = dirname(path);
    await stat(folder).catch(() => {
      throw failedPrecondition(`the process that holds the database does not see the folder ${folder}`);
    });
    // After this check, a file that is removed below was created here.
    await expectNone(path);
    try {
      await before();
      await root.backup(path, true);
      await chmod(path, FILE_MODE);
    } catch (error) {
      // The first failure is the one that is reported.
      await rm(path, { force: true }).catch(() => {});
      throw unwritable(error);
    }
  };
  return {
    /**
     * Writes a copy into a new file: it holds all that was answered before the call, and no free pages.
     * LMDB does it in a thread, from one read transaction.
     *
     * @throws MemoryError `failed_precondition` when another copy is being written, the folder does not
     * exist, or the file does; `unavailable` when the file cannot be written.
     */
    write: async (path: string): Promise<void> => {
      if (isClosed) throw failedPrecondition("the database is being closed");
      if (running !== undefined) throw failedPrecondition("another backup is being taken");
      running = copy(path).finally(() => {
        running = undefined;
      });
      await running;
    },
    /** Waits for a copy that is being written, and refuses later ones. The database must not be closed before. */
    close: async (): Promise<void> => {
      isClosed = true;
      // Whoever asked for the backup gets its failure.
      await running?.catch(() => {});
    },
  };
}
