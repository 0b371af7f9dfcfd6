import { mkdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { open, type RootDatabase } from "lmdb";
import { MemoryError, unavailable } from "../../errors.js";
import type { Storage } from "../storage.js";
import { LocalAccounts } from "./accounts.js";
import { LocalClaims } from "./claims.js";
import { durably, reading } from "./durably.js";
import { LocalErasures } from "./erasures.js";
import { LocalFacts, type Meta } from "./facts.js";
import { LocalLog } from "./log.js";
import { claim } from "./owner.js";
import { LocalRecent } from "./recent.js";
import { LocalUsage } from "./usage.js";

export const FILE = "recalld.mdb";
/** What a compaction writes; it takes the file's place when it is complete. */
export const DRAFT = `compact-${FILE}`;
/** The ports need ten; the rest is room for later. */
const DATABASES_MAX = 32;
/** Texts are private: what is created here is for this user alone. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/**
 * Opens the embedded database in a folder, which is created if needed. One process at a time.
 *
 * @throws MemoryError `failed_precondition` when the folder is in use or cannot be used.
 */
export async function openLocal({ dataDir }: { dataDir: string }): Promise<Storage> {
  const path = join(dataDir, FILE);
  const root = await openRoot(dataDir, path);
  try {
    const meta: Meta = root.openDB("meta", { encoding: "json" });
    const release = await claim({ dataDir, meta });
    // Of a compaction that was killed: it may hold what is erased by now.
    await removeDraft(dataDir);
    return {
      log: new LocalLog(root),
      accounts: new LocalAccounts(root),
      usage: new LocalUsage(root),
      facts: new LocalFacts(meta),
      claims: new LocalClaims(root),
      erasures: new LocalErasures(root),
      recent: new LocalRecent(root),
      exclusive: true,
      check: () => check(path, meta),
      // Released last, so that a successor finds everything written.
      close: () => close(root).finally(release),
    };
  } catch (error) {
    await root.close();
    throw unusable(dataDir, error);
  }
}

/**
 * The facts of the embedded database in a folder, also while a service owns it. Reads are write
 * transactions: a read-only one marks its place by process id, which two containers may share.
 *
 * @throws MemoryError `failed_precondition` when there is none.
 */
export async function openLocalFacts({ dataDir }: { dataDir: string }) {
  const path = join(dataDir, FILE);
  await stat(path).catch((error) => {
    throw unusable(dataDir, error);
  });
  const root = await openRoot(dataDir, path);
  const meta: Meta = root.openDB("meta", { encoding: "json" });
  const facts = new LocalFacts(meta, (action) => meta.transactionSync(action));
  return { facts, close: () => root.close() };
}

export async function removeDraft(dataDir: string): Promise<void> {
  for (const name of [DRAFT, `${DRAFT}-lock`]) await rm(join(dataDir, name), { force: true });
}

export function openFile(path: string): RootDatabase {
  // LMDB's types do not know the mode.
  const options = { path, permissionsMode: FILE_MODE, maxDbs: DATABASES_MAX };
  const root = open(options);
  handleCommits(root);
  return root;
}

async function openRoot(dataDir: string, path: string): Promise<RootDatabase> {
  try {
    await mkdir(dataDir, { recursive: true, mode: FOLDER_MODE });
    return openFile(path);
  } catch (error) {
    throw unusable(dataDir, error);
  }
}

/** LMDB waits for its last flush, and after one that failed, for ever: so there is one more, of nothing. */
async function close(root: RootDatabase): Promise<void> {
  await durably(root, () => {});
  await root.close();
}

/**
 * LMDB makes a promise for each group of transactions, and one for why it failed, and hands them to
 * nobody: a full disk would end the process. What failed is told by each transaction's own promise.
 */
function handleCommits(root: RootDatabase): void {
  const handled = (error?: { commitError?: Promise<never> }) => void error?.commitError?.catch(() => {});
  root.on("beforecommit", () => queueMicrotask(() => root.committed.then(() => {}, handled)));
}

function unusable(dataDir: string, error: unknown): MemoryError {
  if (error instanceof MemoryError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new MemoryError("failed_precondition", `DATA_DIR ${dataDir} cannot be used: ${reason}`, {
    cause: error,
  });
}

async function check(path: string, meta: Meta): Promise<void> {
  // Without the file the open database would go on, and be gone at the next start.
  await stat(path).catch((error) => {
    throw unavailable("the database's file is gone", error);
  });
  reading(() => meta.get("owner"));
}
