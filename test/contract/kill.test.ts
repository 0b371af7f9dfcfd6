import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openLocal } from "../../src/storage/local/open.js";
import { startChild } from "./children/start.js";
import { memoriesOf } from "./samples.js";

const ROUNDS = 3;
/** Number of reported writes before the kill. It differs each round, so that kills fall on different moments. */
const REPORTS_BEFORE_KILL = 150;
/** Time for which a charge may be in memory alone, if its call stores nothing. */
const UNWRITTEN_MS = 100;

/** What the child says of a write: an entry of a log, or a charge. */
interface Report {
  readonly atMs: number;
  readonly storesNothing?: true;
  readonly logId?: string;
  readonly sequence: number;
  readonly id: string;
  readonly keyHash: string;
  readonly charged: number;
}

it("the local database keeps every answered write when its process is killed, but the last charges of recalls", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "recalld-kill-"));
  const kept: Report[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const child = startChild("write", dataDir);
    const reports: Report[] = [];
    const nextReport = async () => JSON.parse(await child.nextLine());
    // On a quick machine as many take less than what is left out below.
    const isLong = () => (reports.at(-1)?.atMs ?? 0) - (reports[0]?.atMs ?? 0) > 2 * UNWRITTEN_MS;
    while (reports.length < REPORTS_BEFORE_KILL * round || !isLong()) reports.push(await nextReport());
    reports.push(...(await child.kill()).map((line) => JSON.parse(line)));
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
