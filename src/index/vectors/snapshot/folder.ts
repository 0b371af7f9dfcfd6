import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { draftPath, manifestPath, nameOf, ownerOf, readManifest, type SegmentRef } from "./manifest.js";

// This file looks after the folder of all segments' files, in the main thread.

/** Size of the files of a log's segments, and time at which one of them was last written or used. */
export interface Use {
  readonly bytes: number;
  readonly usedMs: number;
}

/** Makes written files the ones that are kept, by a rename, and then erases the ones before. */
export async function publish(ref: SegmentRef, stem: string): Promise<void> {
  await rename(draftPath(ref, stem), manifestPath(ref));
  await removeFiles(ref, (name) => name !== `${nameOf(ref)}.json` && !name.startsWith(`${stem}.`));
}

/** Erases a segment's files, the manifest first: without it, the others are ignored. */
export async function eraseFiles(ref: SegmentRef): Promise<void> {
  await rm(manifestPath(ref), { force: true });
  await removeFiles(ref, () => true);
}

/**
 * Erases all files that are not read, such as those of other formats and of writing that a crash cut short:
 * they may hold what is deleted later. No index may be open.
 */
export async function eraseUnreadable(folder: string): Promise<void> {
  const stems = new Map<string, string | undefined>();
  for (const name of await namesIn(folder)) {
    const owner = ownerOf(name);
    const segment = owner && nameOf(owner);
    if (owner && segment && !stems.has(segment)) stems.set(segment, stemOf({ folder, ...owner }));
    const stem = segment && stems.get(segment);
    const isRead = stem !== undefined && (name === `${segment}.json` || name.startsWith(`${stem}.`));
    if (!isRead) await rm(join(folder, name), { recursive: true, force: true });
  }
}

function stemOf(ref: SegmentRef): string | undefined {
  try {
    return readManifest(ref).stem;
  } catch {
    return undefined;
  }
}

/** Returns the use of each log's files, by log id. */
export async function usesIn(folder: string): Promise<Map<string, Use>> {
  const uses = new Map<string, Use>();
  for (const name of await namesIn(folder)) {
    // It may have been erased meanwhile.
    const stats = await stat(join(folder, name)).catch(() => undefined);
    const { logId } = ownerOf(name) ?? {};
    if (stats === undefined || logId === undefined) continue;
    const { bytes, usedMs } = uses.get(logId) ?? { bytes: 0, usedMs: 0 };
    uses.set(logId, { bytes: bytes + stats.size, usedMs: Math.max(usedMs, stats.mtimeMs) });
  }
  return uses;
}

/** Returns the bytes of each of a log's files. */
export async function sizesOf({ folder, logId }: Omit<SegmentRef, "segment">): Promise<number[]> {
  const sizes: number[] = [];
  for (const name of await namesIn(folder)) {
    if (ownerOf(name)?.logId !== logId) continue;
    // It may have been erased meanwhile.
    const stats = await stat(join(folder, name)).catch(() => undefined);
    if (stats !== undefined) sizes.push(stats.size);
  }
  return sizes;
}

/** Lists the segments that have files in the folder, whole or not, by log. */
export async function segmentsIn(folder: string): Promise<Map<string, Set<number>>> {
  const segments = new Map<string, Set<number>>();
  for (const name of await namesIn(folder)) {
    const owner = ownerOf(name);
    if (owner) segments.set(owner.logId, (segments.get(owner.logId) ?? new Set()).add(owner.segment));
  }
  return segments;
}

async function removeFiles(ref: SegmentRef, which: (name: string) => boolean): Promise<void> {
  for (const name of await namesIn(ref.folder)) {
    const owner = ownerOf(name);
    if (owner?.logId === ref.logId && owner.segment === ref.segment && which(name)) {
      await rm(join(ref.folder, name), { force: true });
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
