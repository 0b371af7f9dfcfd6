import { rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextIteration } from "node:timers/promises";
import type { Database, RootDatabase } from "lmdb";
import { FILE, openFile } from "../file.js";
import { DRAFT, removeDraft } from "../open.js";
import { claim } from "../owner/owner.js";

/** Number of records copied before other work may run. */
const SLICE_RECORDS = 1000;
/** Encoding that keeps keys and values as they are. */
const RAW = { encoding: "binary", keyEncoding: "binary" } as const;

/**
 * Rewrites the database into a fresh file: erased data leaves the disk's free pages too, and the file is
 * as small as its contents allow. No server may run on the folder meanwhile.
 *
 * @returns the file's size before and after, in bytes.
 * @throws MemoryError `failed_precondition` when the folder is in use, or the database is damaged.
 */
export async function compactLocal({
  dataDir,
}: {
  dataDir: string;
}): Promise<{ before: number; after: number }> {
  const path = join(dataDir, FILE);
  const draft = join(dataDir, DRAFT);
  const release = await claim({ dataDir });
  try {
    await removeDraft(dataDir);
    const root = openFile(path, { checkLimitMs: Number.POSITIVE_INFINITY });
    const copy = openFile(draft);
    for (const name of root.getKeys()) await copyAll(root, { name: String(name), to: copy });
    await copy.flushed;
    await copy.close();
    const { size: before } = await stat(path);
    const { size: after } = await stat(draft);
    await root.close();
    await rename(draft, path);
    return { before, after };
  } finally {
    await removeDraft(dataDir);
    await release();
  }
}

async function copyAll(from: RootDatabase, { name, to }: { name: string; to: RootDatabase }): Promise<void> {
  const source: Database<Buffer, Buffer> = from.openDB(name, RAW);
  const target: Database<Buffer, Buffer> = to.openDB(name, RAW);
  let copied = 0;
  for (const { key, value } of source.getRange({})) {
    target.put(key, value);
    if (++copied % SLICE_RECORDS === 0) await nextIteration();
  }
  await target.flushed;
}
