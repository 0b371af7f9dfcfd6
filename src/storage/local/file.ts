import { existsSync } from "node:fs";
import { readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { open, type RootDatabase } from "lmdb";
import { failedPrecondition, notWritable } from "../../errors.js";
import { findDamage } from "./find-damage.js";

export const FILE = "recalld.mdb";
export const LOCK = `${FILE}-lock`;
/** Name of the file that a compaction writes; it replaces the database when it is complete. */
export const COMPACTING = `compact-${FILE}`;
/** Prefix of the folder in which a restore puts a database together until it is found to be whole. */
export const RESTORING = "restoring-";
export const FILE_MODE = 0o600;
/** Maximum number of databases in a file: the ports need twenty, the rest is for later. */
export const DATABASES_MAX = 32;
/** Room that the disk must have before a write is tried, or a database is created. */
export const DISK_SPACE_BYTES = 1_048_576;
/** More than LMDB's file of locks takes. */
const LOCK_BYTES = 16_384;
const DISK_SPACE_PROBE = "free-space-probe";
/** LMDB's listener that closes all files when the process exits; the first file that is opened adds it. */
let closeAtExit: NodeJS.ExitListener | undefined;

/**
 * Removes what compactions and restores have left that were killed: it may hold what has been erased since. Only the
 * folder's owner may do so.
 */
export async function removeDrafts(dataDir: string): Promise<void> {
  const isDraft = (name: string) => name.startsWith(COMPACTING) || name.startsWith(RESTORING);
  for (const name of (await readdir(dataDir)).filter(isDraft))
    await rm(join(dataDir, name), { recursive: true, force: true });
}

/**
 * Opens an LMDB file that no other process has open; creates it if it does not exist.
 *
 * @throws MemoryError `failed_precondition` when the file is damaged; the file stays as it is.
 */
export async function openFile(
  path: string,
  { readOnly = false }: { readonly readOnly?: boolean } = {},
): Promise<RootDatabase> {
  const isThere = existsSync(path);
  const damage = isThere ? findDamage(path) : undefined;
  if (damage !== undefined) {
    const advice =
      "restore a backup into an empty folder with recalld-admin restore, see docs/operations.md#restore";
    throw failedPrecondition(
      `the database ${path} is damaged: ${damage}. It is left as it is; to go on, ${advice}`,
    );
  }
  // LMDB maps the files that it creates, and on a full disk the system ends the process by a signal.
  if (!isThere || !existsSync(`${path}-lock`)) {
    await expectDiskSpace(dirname(path), isThere ? LOCK_BYTES : DISK_SPACE_BYTES).catch((cause) => {
      throw notWritable(cause);
    });
  }
  try {
    // LMDB's types lack the mode.
    const options = { path, permissionsMode: FILE_MODE, maxDbs: DATABASES_MAX, readOnly };
    const others = process.listeners("exit");
    const root = open(options);
    closeAtExit ??= process.listeners("exit").find((each) => !others.includes(each));
    handleCommits(root);
    return root;
  } catch (error) {
    // On a full disk LMDB leaves an empty file, which the next start would take for a damaged one.
    if (!isThere) await rm(path, { force: true });
    throw error;
  }
}

/** Lets the process exit without closing its files, where that would wait forever. The system has what was written. */
export function closeNoneAtExit(): void {
  if (closeAtExit === undefined) return;
  process.off("exit", closeAtExit);
  closeAtExit = undefined;
  // Otherwise Node would have LMDB close them when nothing is left to do.
  process.once("exit", () => process.exit());
}

/** Writes a file of this size beside the database, and removes it. @throws Error of the system if it does not fit. */
export async function expectDiskSpace(folder: string, bytes: number): Promise<void> {
  const probe = join(folder, DISK_SPACE_PROBE);
  try {
    await writeFile(probe, Buffer.alloc(bytes), { flush: true });
  } finally {
    // A file that cannot be removed is overwritten the next time.
    await rm(probe, { force: true }).catch(() => {});
  }
}

/**
 * Handles promises that LMDB creates for each group of transactions, one for the outcome and one for the
 * reason of a failure. LMDB returns them to no caller, so a full disk would end the process. Each
 * transaction's own promise tells of its failure.
 */
function handleCommits(root: RootDatabase): void {
  const handled = (error?: { commitError?: Promise<never> }) => void error?.commitError?.catch(() => {});
  root.on("beforecommit", () => queueMicrotask(() => root.committed.then(() => {}, handled)));
}
