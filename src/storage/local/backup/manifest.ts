import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { failedPrecondition, type MemoryError } from "../../../errors.js";
import type { ModelIdentity } from "../../../memory/ports/embedder.js";
import { openSystemRecords } from "../../../memory/ports/model-version.js";
import { expectOurFormat, type Format, OUR_FORMAT } from "../../format.js";
import { FILE, FILE_MODE, openFile } from "../file.js";
import { Entries } from "../log/entries.js";
import { LocalSecondaryIndexes } from "../log/secondary-indexes.js";
import { LocalRecords } from "../records.js";

const MANIFEST = "manifest.json";

/** Description of a backup. It is written last, so a folder without it is not a backup. */
export interface BackupManifest extends Format {
  /** Time at which it was begun: it holds all that was answered before. */
  readonly begun_at: string;
  /** Model whose vectors it holds; null when none was pinned. */
  readonly model: ModelIdentity | null;
  readonly counts: Counts;
  readonly file: FileSum;
}

export interface Counts {
  readonly accounts: number;
  readonly namespaces: number;
  readonly memories: number;
  /** Number of entries in all logs: memories, and everything else that has a number. */
  readonly entries: number;
}

interface FileSum {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Reads what a copy of the database holds. No process may have the copy open.
 *
 * @throws MemoryError `failed_precondition` when it is of another format.
 */
export async function readContents(path: string): Promise<Pick<BackupManifest, "model" | "counts">> {
  const root = await openFile(path, { readOnly: true });
  try {
    const meta = root.openDB<Format, string>("meta", { encoding: "json" });
    expectOurFormat(`the database ${path}`, meta.get("format"));
    const count = (name: string) =>
      (root.openDB(name, { encoding: "binary" }).getStats() as { entryCount: number }).entryCount;
    const counts = {
      accounts: count("accounts"),
      namespaces: count("namespaces"),
      memories: new LocalSecondaryIndexes(root, new Entries(root)).memories,
      entries: count("log"),
    };
    const pinned = (await openSystemRecords(new LocalRecords(root, "meta")).models()).at(-1);
    return { model: pinned?.model ?? null, counts };
  } finally {
    await root.close();
  }
}

export async function writeManifest(
  folder: string,
  manifest: Omit<BackupManifest, keyof Format | "file">,
): Promise<BackupManifest> {
  const file = await sumOf(join(folder, FILE));
  const whole: BackupManifest = { ...OUR_FORMAT, ...manifest, file };
  const options = { mode: FILE_MODE, flag: "wx", flush: true };
  await writeFile(join(folder, MANIFEST), `${JSON.stringify(whole, null, 2)}\n`, options);
  return whole;
}

/**
 * Reads the manifest of a backup.
 *
 * @throws MemoryError `failed_precondition` when the folder holds no backup that this program can read.
 */
export async function readManifest(folder: string): Promise<BackupManifest> {
  const text = await readFile(join(folder, MANIFEST), "utf8").catch((error) => {
    throw failedPrecondition(`${folder} holds no backup: ${error.message}`, { cause: error });
  });
  const manifest = parse(folder, text);
  expectOurFormat(`the backup ${folder}`, manifest);
  return manifest;
}

/**
 * Compares a file with the hash in the manifest.
 *
 * @throws MemoryError `failed_precondition` when it is not the file that was backed up.
 */
export async function checkSum(path: string, { file }: BackupManifest): Promise<void> {
  const { bytes, sha256 } = await sumOf(path);
  if (bytes !== file.bytes) throw damaged(`is ${bytes} bytes; its manifest says ${file.bytes}`);
  if (sha256 !== file.sha256) throw damaged("has another SHA-256 than its manifest says");
}

export async function flush(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

export function damaged(what: string): MemoryError {
  return failedPrecondition(`the backup is damaged: ${FILE} ${what}`);
}

function parse(folder: string, text: string): BackupManifest {
  try {
    const manifest = JSON.parse(text) as Partial<BackupManifest> | null;
    const { file, counts } = manifest ?? {};
    if (file?.name === FILE && typeof file.sha256 === "string" && typeof counts?.memories === "number") {
      return manifest as BackupManifest;
    }
  } catch (error) {
    throw failedPrecondition(`the backup is damaged: ${join(folder, MANIFEST)} is no JSON`, { cause: error });
  }
  throw failedPrecondition(`the backup is damaged: ${join(folder, MANIFEST)} is not what backup writes`);
}

async function sumOf(path: string): Promise<FileSum> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk);
  return { name: FILE, bytes: (await stat(path)).size, sha256: hash.digest("hex") };
}
