/**
 * Migrates the format of the database in the given folder slowly, and reports its progress, until it is
 * killed or done.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { open } from "lmdb";
import { Migrating, type Migration } from "../../../src/memory/format/migrating.js";
import { systemClock } from "../../../src/memory/pacing/clock.js";
import { openLocal } from "../../../src/storage/local/open.js";

const PART = 20;

const dataDir = process.argv[2] as string;
const { formats, close } = await openLocal({ dataDir });
// The migrated records are numbers. Each is raised by one, which shows when one is raised twice.
const records = open<number, number>({ path: join(dataDir, "records.mdb") });
const migration: Migration = { to: 2, readersMin: 1, step };
await new Migrating({
  ...{ formats, migrations: [migration], program: "test", exclusive: true, clock: systemClock },
  onTooNew: fail,
  onTrouble: fail,
  onRaised: () => {},
}).look();
await records.close();
await close();
// This is also called when an earlier process was killed between its last change and its report.
console.log("done");

async function step(cursor: string | null): Promise<string | undefined> {
  console.log(`from ${cursor ?? "the beginning"}`);
  const range = { start: cursor === null ? 0 : Number(cursor) + 1, limit: PART };
  const part = [...records.getRange(range)].map(({ key }) => key);
  for (const key of part) {
    await records.transaction(() => void (records.get(key) === 0 && records.putSync(key, 1)));
    await sleep(1);
  }
  await records.flushed;
  return part.length < PART ? undefined : String(part.at(-1));
}

function fail(error: unknown): never {
  throw error;
}
