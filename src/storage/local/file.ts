import { existsSync, rmSync } from "node:fs";
import { open, type RootDatabase } from "lmdb";
import { MemoryError } from "../../errors.js";
import { findDamage } from "./check/check-file.js";

export const FILE = "recalld.mdb";
/** What LMDB keeps beside a file that is open. */
export const LOCK = `${FILE}-lock`;
/** Texts are private: what is created here is for this user alone. */
export const FOLDER_MODE = 0o700;
export const FILE_MODE = 0o600;
/** The ports need twelve; the rest is room for later. */
const DATABASES_MAX = 32;
/** How long a file's pages are looked at before it is opened. */
export const CHECK_LIMIT_MS = 1_000;

interface OpenOptions {
  readonly readOnly?: boolean;
  /** How long its pages are looked at before; its headers and its size always are. */
  readonly checkLimitMs?: number | undefined;
}

/**
 * Opens an LMDB file that no other process has open; makes one where none is.
 *
 * @throws MemoryError `failed_precondition` when the file is damaged; it is left as it is.
 */
export function openFile(
  path: string,
  { readOnly = false, checkLimitMs = CHECK_LIMIT_MS }: OpenOptions = {},
): RootDatabase {
  const isThere = existsSync(path);
  const damage = isThere ? findDamage(path, { readOnly, limitMs: checkLimitMs }) : undefined;
  if (damage !== undefined) throw damaged(path, damage);
  try {
    // LMDB's types do not know the mode.
    const options = { path, permissionsMode: FILE_MODE, maxDbs: DATABASES_MAX, readOnly };
    const root = open(options);
    handleCommits(root);
    return root;
  } catch (error) {
    // On a full disk LMDB leaves an empty file, which the next start would take for a damaged one.
    if (!isThere) rmSync(path, { force: true });
    throw error;
  }
}

function damaged(path: string, damage: string): MemoryError {
  return new MemoryError(
    "failed_precondition",
    `the database ${path} is damaged: ${damage}. It is left as it is; to go on, restore a backup into an empty folder with recalld-admin restore, see docs/backup.md`,
  );
}

/**
 * LMDB makes a promise for each group of transactions, and one for why it failed, and hands them to
 * nobody: a full disk would end the process. What failed is told by each transaction's own promise.
 */
function handleCommits(root: RootDatabase): void {
  const handled = (error?: { commitError?: Promise<never> }) => void error?.commitError?.catch(() => {});
  root.on("beforecommit", () => queueMicrotask(() => root.committed.then(() => {}, handled)));
}
