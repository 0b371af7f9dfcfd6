import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openLocal } from "../../src/storage/local/open.js";
import { startChild } from "./children/start.js";
import { memoriesOf } from "./samples.js";

const ROUNDS = 3;
/** Number of reported writes before the kill. It differs each round, so that kills fall on different moments. */
const HEARD_BEFORE_KILL = 150;
/** Time for which a charge may be in memory alone, if its call stores nothing. */
const UNWRITTEN_MS = 100;

it("the local database keeps every answered write when its process is killed, but the last charges of recalls", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "recalld-kill-"));
  const kept = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const child = startChild("write", dataDir);
    const said: string[] = [];
    for (let heard = 0; heard < HEARD_BEFORE_KILL * round; heard++) said.push(await child.hear());
    said.push(...(await child.kill()));
    const reports = said.map((line) => JSON.parse(line));
    const lastMs = Math.max(...reports.map(({ atMs }) => atMs));
    kept.push(...reports.filter(({ storesNothing, atMs }) => !storesNothing || atMs < lastMs - UNWRITTEN_MS));
  }
  expect(kept.some(({ storesNothing }) => storesNothing)).toBe(true);
  const { log, secondaryIndexes, accounts, close } = await openLocal({ dataDir });
  for (const { logId, sequence, id, keyHash, charged } of kept) {
    if (logId !== undefined) {
      expect(await memoriesOf(log, { logId, sequences: [sequence] })).toMatchObject([{ entry: { id } }]);
      expect(await secondaryIndexes.locate({ logId, id })).toBe(sequence);
    } else {
      const account = await accounts.findByKey(keyHash);
      expect((account?.callsLimit ?? 0) - (account?.callsLeft ?? 0)).toBeGreaterThanOrEqual(charged);
    }
  }
  await close();
  await rm(dataDir, { recursive: true });
}, 60_000);
