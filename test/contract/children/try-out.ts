/** Opens the given folders one after another, uses every port of each, and reports each outcome. */
import { MemoryError } from "../../../src/errors.js";
import { openLocal } from "../../../src/storage/local/open.js";
import type { Storage } from "../../../src/storage/storage.js";
import { aMemory, entriesOf } from "../samples.js";

for (const dataDir of process.argv.slice(2)) {
  // It says so beforehand, so that the listener knows the folder that a signal belongs to.
  console.log(`trying ${dataDir}`);
  console.log(await tryOut(dataDir));
}

async function tryOut(dataDir: string): Promise<string> {
  try {
    const storage = await openLocal({ dataDir });
    try {
      return await use(storage);
    } finally {
      await storage.close();
    }
  } catch (error) {
    if (error instanceof MemoryError) return `${error.code}: ${error.message}`;
    return `thrown: ${error instanceof Error ? error.stack : String(error)}`;
  }
}

async function use({ log, names, accounts, systemRecords, usage, check }: Storage): Promise<string> {
  await Promise.all([check(), systemRecords.models(), names.recent(9), names.list({ limit: 99 })]);
  for (const account of await accounts.list({ after: "", limit: 99 })) {
    await usage.read({ accountId: account.id, from: "2020-01-01" });
  }
  let memories = 0;
  for (const logId of await log.logIds({ after: "", limit: 99 })) {
    const read = await entriesOf(log, { logId, from: 1, limit: 9999 });
    memories += read.filter(({ entry }) => entry.op === "store").length;
    await log.measure({ logId });
    await log.append({ logId, from: read.length + 1, entries: [aMemory({ text: "x".repeat(9000) })] });
    await log.erase({
      logId,
      sequences: read.filter((_, i) => i % 3 === 0).map(({ sequence }) => sequence),
    });
  }
  return `works, with ${memories} memories`;
}
