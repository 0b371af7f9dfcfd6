import { constants } from "node:fs";
import { copyFile, link, mkdtemp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { failedPrecondition, MemoryError, messageOf, unavailable } from "../../../errors.js";
import { makeFolder } from "../../../make-folder.js";
import { FILE, RESTORING, removeDrafts } from "../file.js";
import { claim, isOfOwners } from "../owner/owner.js";
import { type BackupManifest, checkSum, damaged, flush, readManifest } from "./manifest.js";

/** Names that may be in the folder: downloaded models, and what a fresh file system has. */
const HARMLESS = ["models", "lost+found"];

export interface RestoreOptions {
  readonly backup: string;
  /** The database's folder, which must not hold a database yet. */
  readonly dataDir: string;
  /** Reads back everything in a folder with a database; returns a line for each problem. */
  verify(dataDir: string): Promise<readonly string[]>;
}

export interface Restored extends BackupManifest {
  /** Problems found by reading it back, a line each; the database had them when the backup was taken. */
  readonly problems: readonly string[];
}

/**
 * Puts a backup into an empty folder. The database gets its name there after its hash is checked and all
 * of it is read back; an interruption before that leaves no database.
 *
 * @throws MemoryError `failed_precondition` when the folder is not empty, or the backup is damaged;
 * `unavailable` when the folder cannot be written.
 */
export function restore(options: RestoreOptions): Promise<Restored> {
  return restoreWhole(options).catch((error) => {
    if (error instanceof MemoryError) throw error;
    throw unavailable(`the backup could not be restored: ${messageOf(error)}`, error);
  });
}

async function restoreWhole(options: RestoreOptions): Promise<Restored> {
  const { backup, dataDir } = options;
  const manifest = await readManifest(backup);
  makeFolder(dataDir);
  await expectEmpty(dataDir);
  const release = await claim({ dataDir });
  try {
    // Another restore may have owned it until now.
    await expectEmpty(dataDir);
    return await restoreInto(options, manifest);
  } finally {
    await release();
  }
}

async function restoreInto(
  { backup, dataDir, verify }: RestoreOptions,
  manifest: BackupManifest,
): Promise<Restored> {
  const draft = await mkdtemp(join(dataDir, RESTORING));
  try {
    const file = join(draft, FILE);
    await copyFile(join(backup, FILE), file, constants.COPYFILE_EXCL).catch((error) => {
      throw error.code === "ENOENT" ? damaged("is missing") : error;
    });
    await checkSum(file, manifest);
    const problems = await verify(draft);
    await flush(file);
    // A rename would overwrite what a server had created here before this process owned the folder.
    await link(file, join(dataDir, FILE));
    await flush(dataDir);
    return { ...manifest, problems };
  } finally {
    await removeDrafts(dataDir);
  }
}

async function expectEmpty(dataDir: string): Promise<void> {
  const names = (await readdir(dataDir)).filter((name) => !name.startsWith(RESTORING));
  // A server that was killed has left its socket, and is often why there is a restore.
  const [first] = names.filter((name) => !HARMLESS.includes(name) && !isOfOwners(name));
  if (first === undefined) return;
  throw failedPrecondition(
    `DATA_DIR ${dataDir} is not empty: it holds ${first}; a backup is restored into an empty folder only`,
  );
}
