import { rm } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../concurrency/clock.js";
import type { Config } from "../config/config.js";
import { MemoryError } from "../errors.js";
import { eraseUnreadable, openIndexes } from "../index/open.js";
import { openUsearch, type UsearchOptions } from "../index/vectors/usearch.js";
import { makeFolder } from "../make-folder.js";
import type { Indexes } from "../memory/ports/index.js";
import { openLocal } from "../storage/local/open.js";
import { type Answering, claim } from "../storage/local/owner/owner.js";
import type { Storage } from "../storage/storage.js";
import type { Context } from "./context.js";

/**
 * Opens the database that the settings name.
 *
 * @throws MemoryError `failed_precondition` when it is of another format, in use, damaged, or cannot
 * be used, or when there is none and none is to be made.
 */
export async function openStorage(
  { mongodbUri, dataDir }: Config,
  { answer, creates }: { answer?: Answering; creates: boolean },
): Promise<Storage> {
  if (mongodbUri === undefined) return openLocal({ dataDir, answer, creates });
  // The driver takes as long to load as the web server, so only who uses it waits for it.
  const { openMongo } = await import("../storage/mongo/open.js");
  return openMongo({ uri: mongodbUri, creates });
}

/**
 * Makes this process the one that keeps index files in `DATA_DIR`, where the database does not do that: two
 * would erase each other's. Files that are not read are erased. Where the folder cannot be owned, no files can
 * be kept there either.
 *
 * @param answer Answers the operator's commands about the index files.
 * @throws MemoryError `failed_precondition` when another process has it.
 */
export async function ownIndexFiles(
  { config: { dataDir }, closers, logger }: Pick<Context, "config" | "closers" | "logger">,
  { exclusive }: Pick<Storage, "exclusive">,
  answer: Answering,
): Promise<void> {
  try {
    if (!exclusive) {
      makeFolder(dataDir);
      closers.push(await claim({ dataDir, answer }));
    }
    await eraseUnreadable(indexFolder(dataDir));
    for (const folder of FORMER_FOLDERS) await rm(join(dataDir, folder), { recursive: true, force: true });
  } catch (error) {
    if (error instanceof MemoryError)
      throw new MemoryError(error.code, `${error.message}; give each replica a DATA_DIR of its own`);
    logger.warn({ err: error }, "no index files can be kept in DATA_DIR");
  }
}

const indexFolder = (dataDir: string) => join(dataDir, "index");
/** Index files of an earlier version: they may hold what is deleted later. */
const FORMER_FOLDERS = ["snapshots", "vectors", "words"];

/** Opens the indexes of logs. Their threads are closed by `closeThreads`, when no index is open. */
export function openIndexFiles(
  { dataDir, indexMemoryBytesMax }: Config,
  options: Omit<UsearchOptions, "clock" | "memoryBytesMax"> & {
    onTrouble(error: unknown): void;
  },
): { indexes: Indexes; closeThreads: () => Promise<void> } {
  const vectors = openUsearch({ ...options, clock: systemClock, memoryBytesMax: indexMemoryBytesMax });
  const { onTrouble } = options;
  const indexes = openIndexes({
    vectors,
    folder: indexFolder(dataDir),
    clock: systemClock,
    closedBytesMax: indexMemoryBytesMax,
    onTrouble,
  });
  return { indexes, closeThreads: () => vectors.close() };
}
