import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** A download that lives writes more often than that, or gives up. */
const ABANDONED_MS = 60_000;

/**
 * Where a process puts what has come of a file so far. The name is its own: two that download the same
 * file at once never write to the same place.
 */
export function partOf(path: string): string {
  return `${path}.${randomBytes(4).toString("hex")}.part`;
}

/**
 * Goes on with the longest remainder that any download of the file has left. One that may live on is
 * copied: it only ever grows at its end, so what is there of it now is the file's beginning.
 */
export async function adoptRemainder(path: string, part: string): Promise<void> {
  const remainders = (await remaindersOf(path)).sort((a, b) => b.bytes - a.bytes);
  const [longest] = remainders;
  if (longest === undefined) return;
  try {
    if (longest.isAbandoned) await rename(longest.path, part);
    else await copyFile(longest.path, part, constants.COPYFILE_FICLONE);
  } catch (error) {
    // Another process was faster to take it, or has finished.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

/** Once the file is there. A download that is still under way finds it there when it ends. */
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
