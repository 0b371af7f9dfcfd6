import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyBaseLogger } from "fastify";
import type { Config } from "../config/config.js";
import { MemoryError } from "../errors.js";
import { admit } from "../memory/format/format.js";
import { latestOf, Migrating } from "../memory/format/migrating.js";
import { systemClock } from "../memory/pacing/clock.js";
import { turn } from "../memory/pacing/turn.js";
import type { Words } from "../memory/ports/words.js";
import { openLocal } from "../storage/local/open.js";
import { claim } from "../storage/local/owner/owner.js";
import type { Answering } from "../storage/local/owner/request.js";
import type { Storage } from "../storage/storage.js";
import { openUsearch, type Usearch, type UsearchOptions } from "../vectors/usearch.js";
import { VERSION } from "../version.js";
import { openWords } from "../words/open.js";
import type { Closers } from "./closers.js";

/** Follows the database's format, and raises it. */
export function openMigrating({
  storage,
  logger,
  closers,
  onTooNew,
}: {
  storage: Storage;
  logger: FastifyBaseLogger;
  closers: Closers;
  /** Called when another program has made the database too new for this one. */
  onTooNew(error: unknown): void;
}): void {
  const { formats, migrations, exclusive } = storage;
  const migrating = new Migrating({
    ...{ formats, migrations, exclusive, onTooNew },
    program: VERSION,
    clock: systemClock,
    onTrouble: (error) => logger.warn({ err: error }, "raising the database's format; it is tried again"),
    onRaised: (version) => logger.info({ version }, "the database's format is raised"),
  });
  closers.push(() => migrating.close());
  migrating.start();
}

/**
 * Opens the database that the settings name.
 *
 * @throws MemoryError `failed_precondition` when it is too new for this program, in use, damaged, or cannot
 * be used, or when there is none and none is to be made.
 */
export async function openStorage(
  { mongodbUri, dataDir }: Config,
  { answer, creates, checkLimitMs }: { answer?: Answering; creates: boolean; checkLimitMs?: number },
): Promise<Storage> {
  if (mongodbUri === undefined) return admitted(openLocal({ dataDir, answer, creates, checkLimitMs }));
  // The driver takes as long to load as the web server, so only who uses it waits for it.
  const { openMongo } = await import("../storage/mongo/open.js");
  return admitted(openMongo({ uri: mongodbUri, creates }));
}

/** Returns only a database that this program can read and write. */
async function admitted(opening: Promise<Storage>): Promise<Storage> {
  const storage = await opening;
  try {
    await admit(storage.formats, { known: latestOf(storage.migrations), program: VERSION });
    return storage;
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/**
 * Makes this process the one that keeps snapshots in `DATA_DIR`, where the database does not do that: two
 * would erase each other's. Where the folder cannot be owned, no snapshots can be kept there either.
 *
 * @throws MemoryError `failed_precondition` when another process has it.
 */
export async function ownSnapshots(
  { dataDir }: Config,
  { storage, closers, logger }: { storage: Storage; closers: Closers; logger: FastifyBaseLogger },
): Promise<void> {
  if (storage.exclusive) return;
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    closers.push(await claim({ dataDir }));
  } catch (error) {
    if (error instanceof MemoryError) throw apart(error);
    logger.warn({ err: error }, "DATA_DIR cannot be owned, nor snapshots be kept there");
  }
}

function apart({ code, message }: MemoryError): MemoryError {
  return new MemoryError(code, `${message}; give each replica a DATA_DIR of its own`);
}

export function openVectors(
  { dataDir, indexMemoryBytesMax }: Config,
  options: Omit<UsearchOptions, "snapshotsDir" | "snapshotBytesMax" | "backlogBytesMax">,
): Usearch {
  return openUsearch({
    ...options,
    snapshotsDir: join(dataDir, "snapshots"),
    snapshotBytesMax: indexMemoryBytesMax,
    backlogBytesMax: indexMemoryBytesMax / 2,
  });
}

/** Opens the word indexes; their files are small beside those of vectors. */
export function openWordIndexes({ dataDir, indexMemoryBytesMax }: Config): Words {
  return openWords({ folder: join(dataDir, "words"), folderBytesMax: indexMemoryBytesMax / 4, turn });
}
