import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { draftPath, type Kept, manifestPath, nameOf, ownerOf } from "./manifest.js";

// This file looks after the folder of all segments' files, in the main thread.

/** Size of the files of a log's segments, and time at which one of them was last written or used. */
export interface Use {
  readonly bytes: number;
  readonly usedMs: number;
}

/** Makes written files the ones that are kept, by a rename, and then erases the ones before. */
export async function publish(of: Kept, stem: string): Promise<void> {
  await rename(draftPath(of, stem), manifestPath(of));
  await removeFiles(of, (name) => name !== `${nameOf(of)}.json` && !name.startsWith(`${stem}.`));
}

/** Erases a segment's files, the manifest first: without it, the others are ignored. */
export async function eraseFiles(of: Kept): Promise<void> {
  await rm(manifestPath(of), { force: true });
  await removeFiles(of, () => true);
}

/** Erases the files that an older version of this program left of a log. */
export async function eraseOld({ folder, logId }: Omit<Kept, "segment">): Promise<void> {
  for (const name of await namesIn(folder)) {
    const owner = ownerOf(name);
    if (owner.logId === logId && owner.segment === undefined) await rm(join(folder, name), { force: true });
  }
}

/** Returns the use of each log's files, by log id. */
export async function usesIn(folder: string): Promise<Map<string, Use>> {
  const uses = new Map<string, Use>();
  for (const name of await namesIn(folder)) {
    // It may have been erased meanwhile.
    const stats = await stat(join(folder, name)).catch(() => undefined);
    if (stats === undefined) continue;
    const { logId } = ownerOf(name);
    const { bytes, usedMs } = uses.get(logId) ?? { bytes: 0, usedMs: 0 };
    uses.set(logId, { bytes: bytes + stats.size, usedMs: Math.max(usedMs, stats.mtimeMs) });
  }
  return uses;
}

/** Lists the segments that have files in the folder, whole or not, by log; undefined is an older version's. */
export async function segmentsIn(folder: string): Promise<Map<string, Set<number | undefined>>> {
  const segments = new Map<string, Set<number | undefined>>();
  for (const name of await namesIn(folder)) {
    const { logId, segment } = ownerOf(name);
    segments.set(logId, (segments.get(logId) ?? new Set()).add(segment));
  }
  return segments;
}

async function removeFiles(of: Kept, which: (name: string) => boolean): Promise<void> {
  for (const name of await namesIn(of.folder)) {
    const { logId, segment } = ownerOf(name);
    if (logId === of.logId && segment === of.segment && which(name)) {
      await rm(join(of.folder, name), { force: true });
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    // The folder does not exist before the first segment is written.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
