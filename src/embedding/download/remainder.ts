import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Age from which a remainder counts as abandoned: a live download writes more often, or gives up. */
const ABANDONED_MS = 60_000;

/**
 * Names the file for what a process has received so far. Each name is random, so two downloads of the
 * same file never write to the same place.
 */
export function partOf(path: string): string {
  return `${path}.${randomBytes(4).toString("hex")}.part`;
}

/**
 * Continues the longest remainder that any download of the file has left. If its download may still be
 * live, the remainder is copied: it only grows at its end, so the copy is the beginning of the file.
 */
export async function adoptRemainder(path: string, part: string): Promise<void> {
  const remainders = (await remaindersOf(path)).sort((a, b) => b.bytes - a.bytes);
  const [longest] = remainders;
  if (longest === undefined) return;
  try {
    if (longest.isAbandoned) await rename(longest.path, part);
    else await copyFile(longest.path, part, constants.COPYFILE_FICLONE);
  } catch (error) {
    // Another process has taken it or finished it first.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

/**
 * Deletes all remainders of a complete file. A download that is still under way finds the file when it
 * ends.
 */
export async function removeRemainders(path: string): Promise<void> {
  for (const remainder of await remaindersOf(path)) await rm(remainder.path, { force: true });
}

async function remaindersOf(path: string) {
  const siblings = await readdir(dirname(path)).catch(() => []);
  const names = siblings.filter((name) => name.startsWith(`${basename(path)}.`) && name.endsWith(".part"));
  const remainders = [];
  for (const name of names) {
    const remainder = join(dirname(path), name);
    const found = await stat(remainder).catch(() => undefined);
    if (found === undefined) continue;
    const isAbandoned = Date.now() - found.mtimeMs > ABANDONED_MS;
    remainders.push({ path: remainder, bytes: found.size, isAbandoned });
  }
  return remainders;
}
