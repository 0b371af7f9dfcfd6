import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "lmdb";
import { expect, it } from "vitest";
import { lookInto } from "../../src/storage/local/backup/manifest.js";
import { openLocal } from "../../src/storage/local/open.js";
import { aMemory, anLogId } from "./samples.js";

it("a log of before counts were kept is counted anew each time, and right", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "recalld-counts-"));
  const logId = anLogId();
  const entries = Array.from({ length: 600 }, () => aMemory({ text: "12" }));
  const before = await openLocal({ dataDir });
  await before.log.append({ logId, from: 1, entries });
  await before.close();
  const root = open({ path: join(dataDir, "recalld.mdb") });
  await root.openDB("counts", { encoding: "json" }).clearAsync();
  await root.close();
  const { log, close } = await openLocal({ dataDir });
  expect(await log.measure({ logId })).toEqual({ memories: 600, bytes: 2400 });
  await log.append({
    logId,
    from: 601,
    entries: entries.slice(0, 1).map((each) => ({ ...each, id: "x" })),
  });
  await log.erase({ logId, sequences: [1, 2] });
  expect(await log.measure({ logId })).toEqual({ memories: 599, bytes: 2396 });
  await close();
  await rm(dataDir, { recursive: true });
});

it("a backup's manifest counts no memory that was erased, and reads a file without any", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "recalld-counts-"));
  const path = join(dataDir, "recalld.mdb");
  const empty = await openLocal({ dataDir });
  await empty.close();
  expect((await lookInto(path)).counts).toEqual({ accounts: 0, namespaces: 0, memories: 0, entries: 0 });
  const { log, close } = await openLocal({ dataDir });
  for (const logId of [anLogId(), anLogId()]) {
    await log.append({ logId, from: 1, entries: Array.from({ length: 5 }, () => aMemory()) });
    await log.erase({ logId, sequences: [2, 3] });
  }
  await close();
  expect((await lookInto(path)).counts).toEqual({ accounts: 0, namespaces: 0, memories: 6, entries: 10 });
  await rm(dataDir, { recursive: true });
});
