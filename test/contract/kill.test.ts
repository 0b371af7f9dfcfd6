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

it("the local database keeps every answered write when its process is killed", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "recalld-kill-"));
  const said: string[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const child = startChild("write", dataDir);
    for (let heard = 0; heard < HEARD_BEFORE_KILL * round; heard++) said.push(await child.hear());
    said.push(...(await child.kill()));
  }
  const { log, accounts, close } = await openLocal({ dataDir });
  for (const { logId, sequence, id, keyHash, charged } of said.map((line) => JSON.parse(line))) {
    if (logId !== undefined) {
      expect(await memoriesOf(log, { logId, sequences: [sequence] })).toMatchObject([{ entry: { id } }]);
      expect(await log.locate({ logId, id })).toBe(sequence);
    } else {
      const account = await accounts.findByKey(keyHash);
      expect((account?.callsLimit ?? 0) - (account?.callsLeft ?? 0)).toBeGreaterThanOrEqual(charged);
    }
  }
  await close();
  await rm(dataDir, { recursive: true });
}, 60_000);
