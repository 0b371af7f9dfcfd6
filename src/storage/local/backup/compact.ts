import { rename, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Database, RootDatabase } from "lmdb";
import { failedPrecondition } from "../../../errors.js";
import { SLICE_BYTES_MAX } from "../../../memory/ports/bounds.js";
import { committed, settled } from "../durably.js";
import { COMPACTING, FILE, openFile, removeDrafts } from "../file.js";
import { claim } from "../owner/owner.js";
import { flush } from "./manifest.js";

/** Number of records in one transaction, which also holds at most a slice in bytes. */
const SLICE_RECORDS = 1000;
/** Encoding that keeps keys and values as they are. */
const RAW = { encoding: "binary", keyEncoding: "binary" } as const;

/**
 * Rewrites the database into a fresh file: erased data leaves the disk's free pages too, and the file is
 * as small as its contents allow. No server may run on the folder meanwhile.
 *
 * @returns the file's size before and after, in bytes.
 * @throws MemoryError `failed_precondition` when the folder is in use, or the database is damaged; `unavailable` when the
 * disk has no room for both files.
 */
export async function compactLocal(dataDir: string): Promise<{ before: number; after: number }> {
  const path = join(dataDir, FILE);
  const draft = join(dataDir, COMPACTING);
  const release = await claim({ dataDir });
  try {
    await removeDrafts(dataDir);
    const root = await openFile(path);
    const copy = await openFile(draft);
    for (const name of root.getKeys()) await copyAll(root, { name: String(name), to: copy });
    await copy.close();
    const { size: before } = await stat(path);
    const { size: after } = await stat(draft);
    await root.close();
    await rename(draft, path);
    // Otherwise a power loss could bring the file of before back, with what was erased.
    await flush(dataDir);
    return { before, after };
  } finally {
    await removeDrafts(dataDir);
    await release();
  }
}

async function copyAll(from: RootDatabase, { name, to }: { name: string; to: RootDatabase }): Promise<void> {
  const source: Database<Buffer, Buffer> = from.openDB(name, RAW);
  const target: Database<Buffer, Buffer> = to.openDB(name, RAW);
  let slice: { key: Buffer; value: Buffer }[] = [];
  let [bytes, records] = [0, 0];
  const write = () => {
    const some = slice;
    [slice, bytes] = [[], 0];
    records += some.length;
    return committed(target, () => {
      // Told that a key is the last, LMDB fills its pages. Else it would split each in halves.
      for (const { key, value } of some) target.putSync(key, value, { append: true });
    });
  };
  for (const record of source.getRange({})) {
    slice.push(record);
    bytes += record.value.byteLength;
    if (slice.length === SLICE_RECORDS || bytes >= SLICE_BYTES_MAX) await write();
  }
  await write();
  await settled(target);
  // It leaves out, without an error, a key that is not the last.
  if (target.getKeysCount() !== records) throw failedPrecondition(`the keys of ${name} are out of order`);
}
