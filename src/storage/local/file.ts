import { open, type RootDatabase } from "lmdb";

export const FILE = "recalld.mdb";
/** What LMDB keeps beside a file that is open. */
export const LOCK = `${FILE}-lock`;
/** Texts are private: what is created here is for this user alone. */
export const FOLDER_MODE = 0o700;
export const FILE_MODE = 0o600;
/** The ports need ten; the rest is room for later. */
const DATABASES_MAX = 32;

export function openFile(path: string, { readOnly = false } = {}): RootDatabase {
  // LMDB's types do not know the mode.
  const options = { path, permissionsMode: FILE_MODE, maxDbs: DATABASES_MAX, readOnly };
  const root = open(options);
  handleCommits(root);
  return root;
}

/**
 * LMDB makes a promise for each group of transactions, and one for why it failed, and hands them to
 * nobody: a full disk would end the process. What failed is told by each transaction's own promise.
 */
function handleCommits(root: RootDatabase): void {
  const handled = (error?: { commitError?: Promise<never> }) => void error?.commitError?.catch(() => {});
  root.on("beforecommit", () => queueMicrotask(() => root.committed.then(() => {}, handled)));
}
