import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readContents } from "../../src/storage/local/backup/manifest.js";
import { openLocal } from "../../src/storage/local/open.js";
import { aMemory, anLogId } from "./samples.js";

it("a backup's manifest counts no memory that was erased, and reads a file without any", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "recalld-counts-"));
  const path = join(dataDir, "recalld.mdb");
  const empty = await openLocal({ dataDir });
  await empty.close();
  expect((await readContents(path)).counts).toEqual({ accounts: 0, namespaces: 0, memories: 0, entries: 0 });
  const { log, close } = await openLocal({ dataDir });
  for (const logId of [anLogId(), anLogId()]) {
    await log.append({ logId, from: 1, entries: Array.from({ length: 5 }, () => aMemory()) });
    await log.erase({ logId, sequences: [2, 3] });
  }
  await close();
  expect((await readContents(path)).counts).toEqual({ accounts: 0, namespaces: 0, memories: 6, entries: 10 });
  await rm(dataDir, { recursive: true });
});
