import { link, readFile, rm, writeFile } from "node:fs/promises";

/**
 * Returns the key in a file that only its owner may read; if there is none, makes one and writes it. Of two
 * processes that do so at once, both get the key of the one that was first.
 */
export async function keyIn(path: string, make: () => Promise<string>): Promise<string> {
  const kept = await read(path);
  if (kept !== undefined) return kept;
  const written = `${path}.${process.pid}`;
  await writeFile(written, `${await make()}\n`, { mode: 0o600 });
  try {
    // A link appears whole or not at all, and never in the place of another's.
    await link(written, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await rm(written, { force: true });
  }
  return (await read(path)) ?? keyIn(path, make);
}

async function read(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
