import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Database, RootDatabase } from "lmdb";
import { failedPrecondition, MemoryError, messageOf } from "../../errors.js";
import { makeFolder } from "../../make-folder.js";
import { openSystemRecords } from "../../memory/ports/model-version.js";
import { openNames } from "../../memory/ports/names.js";
import { expectOurFormat, type Format, OUR_FORMAT } from "../format.js";
import type { Storage } from "../storage.js";
import { LocalAccounts } from "./accounts.js";
import { openSnapshots } from "./backup/back-up.js";
import { LocalCalls, LocalUsage } from "./calls.js";
import { durably, reading, settled, writesOf } from "./durably.js";
import { DATABASES_MAX, FILE, openFile, removeDrafts } from "./file.js";
import { Entries } from "./log/entries.js";
import { LocalLog } from "./log/log.js";
import { LocalSecondaryIndexes } from "./log/secondary-indexes.js";
import { type Answering, claim } from "./owner/owner.js";
import { LocalRecords } from "./records.js";

const JSON_VALUES = { encoding: "json" } as const;

type Meta = Database<Format, string>;

export interface LocalOptions {
  readonly dataDir: string;
  /** Serves the operator's commands, which reach the database through its owner. */
  readonly answer?: Answering | undefined;
  /** Whether a missing database is created; true when left out. */
  readonly creates?: boolean | undefined;
}

/**
 * Opens the embedded database in a folder, which is created if needed. Only one process can have it
 * open.
 *
 * @throws MemoryError `failed_precondition` when the folder is in use, cannot be used, or holds a
 * damaged database or one of another format; also when it holds none and `creates` is false.
 */
export async function openLocal(options: LocalOptions): Promise<Storage> {
  const { dataDir, answer, creates = true } = options;
  try {
    if (!creates) await expectLocal(dataDir);
    makeFolder(dataDir);
    const release = await claim({ dataDir, answer });
    return await open(options, release).catch(async (error) => {
      await release();
      throw error;
    });
  } catch (error) {
    throw unusable(dataDir, error);
  }
}

async function open(options: LocalOptions, release: () => Promise<void>): Promise<Storage> {
  const { dataDir } = options;
  await removeDrafts(dataDir);
  const path = join(dataDir, FILE);
  const root = await openFile(path);
  try {
    const names = [...root.getKeys({ limit: DATABASES_MAX })];
    // One of another program is left as it is.
    if (names.length > 0 && !names.includes("meta")) expectOurFormat(`the database ${path}`, undefined);
    const meta: Meta = root.openDB("meta", JSON_VALUES);
    await checkFormat(root, { meta, path });
    const accounts = new LocalAccounts(root);
    const { charges } = accounts;
    // A database whose disk is full is backed up without the charges that the disk does not take.
    const snapshots = openSnapshots(root, () => charges.write().catch(() => {}));
    const entries = new Entries(root);
    const secondaryIndexes = new LocalSecondaryIndexes(root, entries);
    return {
      // A memory's charge is on the disk before it, or with it.
      log: new LocalLog(entries, { secondaryIndexes, beforeAppend: () => charges.send() }),
      names: openNames(new LocalRecords(root, "namespaces", { index: "logId" })),
      secondaryIndexes,
      accounts,
      grants: new LocalRecords(root, "grants", { expiry: "keptUntilMs" }),
      grantSecrets: new LocalRecords(root, "grant-secrets"),
      usage: new LocalUsage(root.openDB("usage", JSON_VALUES)),
      calls: new LocalCalls(root.openDB("calls", JSON_VALUES)),
      systemRecords: openSystemRecords(new LocalRecords(root, "meta")),
      claims: new LocalRecords(root, "claims", { expiry: "expiresAtMs" }),
      erasures: new LocalRecords(root, "erasures"),
      exclusive: true,
      check: () => check(meta),
      backUp: snapshots.write,
      close: async () => {
        await snapshots.close();
        // If the disk does not take the last charges, the flush below tells of it.
        await charges.close().catch(() => {});
        // Released last, so that a successor finds everything written.
        await closeFile(root).finally(release);
      },
    };
  } catch (error) {
    // The database closes before the folder is given up, because no other process may have it open then.
    await closeFile(root).catch(() => {});
    throw error;
  }
}

/** Expects the format of this program, and gives it to a new database before anything else is written. */
async function checkFormat(root: RootDatabase, { meta, path }: { meta: Meta; path: string }): Promise<void> {
  const found = reading(() => meta.get("format"));
  const isNew = found === undefined && [...root.getKeys()].every((name) => name === "meta");
  if (isNew) await durably(meta, () => void meta.putSync("format", OUR_FORMAT));
  else expectOurFormat(`the database ${path}`, found);
}

/** Expects that the folder holds a database. @throws MemoryError `failed_precondition` when it does not. */
export async function expectLocal(dataDir: string): Promise<void> {
  await stat(join(dataDir, FILE)).catch((error) => {
    throw unusable(dataDir, error);
  });
}

/**
 * Closes the database after one more flush, of nothing: LMDB waits for its last flush, and forever if
 * that failed.
 */
async function closeFile(root: RootDatabase): Promise<void> {
  await settled(root);
  await root.close();
}

function unusable(dataDir: string, error: unknown): MemoryError {
  if (error instanceof MemoryError) return error;
  return failedPrecondition(`DATA_DIR ${dataDir} cannot be used: ${messageOf(error)}`, { cause: error });
}

async function check(meta: Meta): Promise<void> {
  const writes = writesOf(meta);
  writes.expectFile();
  reading(() => meta.get("format"));
  await writes.check();
}
