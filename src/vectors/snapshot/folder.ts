import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { draftPath, type Kept, logIdIn, manifestPath } from "./manifest.js";

// The folder of all snapshots, as the main thread looks after it.

/** What a snapshot takes, and when one of its files was written or of use last. */
export interface Use {
  readonly bytes: number;
  readonly usedMs: number;
}

/** Makes a snapshot that is written the one that is kept: by a rename, and then the one before is erased. */
export async function publish(of: Kept, stem: string): Promise<void> {
  await rename(draftPath(of, stem), manifestPath(of));
  await removeFiles(of, (name) => name !== `${of.logId}.json` && !name.startsWith(`${stem}.`));
}

/** Erases a snapshot, the manifest first: without it, the rest is nothing. */
export async function eraseFiles(of: Kept): Promise<void> {
  await rm(manifestPath(of), { force: true });
  await removeFiles(of, () => true);
}

/** By log. */
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

/** The logs that files in the folder are of, whole or not. */
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
    // Nothing was kept yet.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
