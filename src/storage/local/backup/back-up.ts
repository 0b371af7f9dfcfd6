import { mkdir, mkdtemp, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { failedPrecondition, MemoryError, messageOf } from "../../../errors.js";
import { FILE, FOLDER_MODE, LOCK } from "../file.js";
import { type BackupManifest, flush, lookInto, writeManifest } from "./manifest.js";

/** Interval between reports of how far the copy is. */
const LOOK_MS = 500;

export interface BackUpOptions {
  /** Path of the backup's folder, which must not exist. */
  readonly folder: string;
  /** Writes a copy of the database, from a moment after the call, into a new file. */
  copy(path: string): Promise<void>;
  /** Called now and then with the number of bytes written. */
  onProgress(bytes: number): void;
}

/**
 * Takes a backup: a folder with a copy of the database and a manifest. It is made under another name and
 * renamed when the disk has all of it, so an interruption leaves nothing under `folder`.
 *
 * @throws MemoryError `failed_precondition` when the folder exists, `unavailable` when it cannot be
 * written.
 */
export async function backUp({ copy, onProgress, ...given }: BackUpOptions): Promise<BackupManifest> {
  const folder = resolve(given.folder);
  await expectNone(folder);
  const draft = await draftOf(folder);
  try {
    const begunAt = new Date().toISOString();
    const file = join(draft, FILE);
    await watching(file, onProgress, copy(file));
    await flush(file);
    const found = await lookInto(file);
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
  try {
    await mkdir(dirname(folder), { recursive: true, mode: FOLDER_MODE });
    return await mkdtemp(`${folder}.partial-`);
  } catch (error) {
    throw unwritable(error);
  }
}

async function watching(file: string, onProgress: (bytes: number) => void, copying: Promise<void>) {
  const look = () => stat(file).then(({ size }) => onProgress(size), ignoreAbsence);
  const timer = setInterval(look, LOOK_MS);
  try {
    await copying;
  } finally {
    clearInterval(timer);
  }
}

/** Ignores a missing file, because the copy may not have begun. */
function ignoreAbsence(): void {}

async function expectNone(folder: string): Promise<void> {
  const there = await stat(folder).then(
    () => true,
    () => false,
  );
  if (there) throw failedPrecondition(`${folder} is there already; nothing is overwritten`);
}

export function unwritable(error: unknown): MemoryError {
  const message = `the backup could not be written: ${messageOf(error)}`;
  return new MemoryError("unavailable", message, { cause: error });
}
