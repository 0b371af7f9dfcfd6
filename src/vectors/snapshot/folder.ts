import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { draftPath, type Kept, logIdIn, manifestPath } from "./manifest.js";

// This file looks after the folder of all snapshots, in the main thread.

/** Size of a snapshot's files, and time at which one of them was last written or used. */
export interface Use {
  readonly bytes: number;
  readonly usedMs: number;
}

/** Makes a written snapshot the one that is kept, by a rename, and then erases the one before. */
export async function publish(of: Kept, stem: string): Promise<void> {
  await rename(draftPath(of, stem), manifestPath(of));
  await removeFiles(of, (name) => name !== `${of.logId}.json` && !name.startsWith(`${stem}.`));
}

/** Erases a snapshot, the manifest first: without it, the other files are ignored. */
export async function eraseFiles(of: Kept): Promise<void> {
  await rm(manifestPath(of), { force: true });
  await removeFiles(of, () => true);
}

/** Returns the use of each log's snapshot, by log id. */
export async function usesIn(folder: string): Promise<Map<string, Use>> {
  const uses = new Map<string, Use>();
  for (const name of await namesIn(folder)) {
    // It may have been erased meanwhile.
    const stats = await stat(join(folder, name)).catch(() => undefined);
    if (stats === undefined) continue;
    const { bytes, usedMs } = uses.get(logIdIn(name)) ?? { bytes: 0, usedMs: 0 };
    const use = { bytes: bytes + stats.size, usedMs: Math.max(usedMs, stats.mtimeMs) };
    uses.set(logIdIn(name), use);
  }
  return uses;
}

/** Lists the logs that have files in the folder, whole or not. */
export async function snapshotsIn(folder: string): Promise<string[]> {
  return [...new Set((await namesIn(folder)).map(logIdIn))];
}

async function removeFiles({ folder, logId }: Kept, which: (name: string) => boolean): Promise<void> {
  for (const name of await namesIn(folder)) {
    if (logIdIn(name) === logId && which(name)) await rm(join(folder, name), { force: true });
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    // The folder does not exist before the first snapshot.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
