import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { admit, type Format } from "../../src/memory/format/format.js";
import {
  latestOf,
  MIGRATION_LEASE_MS,
  Migrating,
  type Migration,
  NOTICE_MS,
} from "../../src/memory/format/migrating.js";
import { openLocal } from "../../src/storage/local/open.js";
import type { Storage } from "../../src/storage/storage.js";
import { HandClock } from "./clock.js";
import { newFolder } from "./room.js";

const RECORDS = 10;
const PART = 3;

let storage: Storage;
let clock: HandClock;
/** Records to migrate. Each counts its own migrations. */
let records: number[];
let parts: (string | null)[];
let said: unknown[];

beforeEach(async () => {
  storage = await openLocal({ dataDir: newFolder() });
  clock = new HandClock();
  records = Array.from({ length: RECORDS }, () => 0);
  [parts, said] = [[], []];
});
afterEach(() => storage.close());

/** Makes a migration from the previous format to `to`. */
function migration(to: number, { readersMin = to - 1, dieAt = Number.NaN } = {}): Migration {
  const step = async (cursor: string | null) => {
    parts.push(cursor);
    if (parts.length === dieAt) throw new Error("died");
    const from = Number(cursor ?? 0);
    for (let i = from; i < Math.min(from + PART, RECORDS); i++)
      if (records[i] === to - 2) records[i] = to - 1;
    return from + PART < RECORDS ? String(from + PART) : undefined;
  };
  return { to, readersMin, step };
}

function program(migrations: Migration[], { name = "2.0.0", exclusive = false } = {}): Migrating {
  return new Migrating({
    ...{ formats: storage.formats, migrations, program: name, exclusive, clock },
    onTooNew: (error) => said.push((error as Error).message),
    onTrouble: (error) => said.push(error),
    onRaised: (version) => said.push(version),
  });
}

const formatNow = async () => (await storage.formats.read())?.format;

describe("raising a database's format", () => {
  it("takes one that says nothing for the oldest, and does every migration in order", async () => {
    const migrating = program([migration(2), migration(3)]);
    await migrating.look();
    expect(await formatNow()).toEqual({ version: 2, readersMin: 1, program: "2.0.0" });
    await migrating.look();
    expect(await formatNow()).toEqual({ version: 3, readersMin: 2, program: "2.0.0" });
    expect(records).toEqual(Array(RECORDS).fill(2));
    await migrating.look();
    expect(parts).toHaveLength(8);
    expect(said).toEqual([2, 3]);
  });

  it("is gone on with by another once its lead is dead, where that one stopped", async () => {
    await expect(program([migration(2, { dieAt: 3 })]).look()).rejects.toThrow("died");
    expect(await formatNow()).toMatchObject({ version: 1, migration: { to: 2, cursor: "6" } });
    const other = program([migration(2)]);
    await other.look();
    expect(parts).toEqual([null, "3", "6"]);
    clock.atMs += MIGRATION_LEASE_MS;
    await other.look();
    expect(parts).toEqual([null, "3", "6", "6", "9"]);
    expect(records).toEqual(Array(RECORDS).fill(1));
    expect(await formatNow()).toEqual({ version: 2, readersMin: 1, program: "2.0.0" });
  });

  it("is gone on with at once where nobody else can be at it", async () => {
    await expect(program([migration(2, { dieAt: 2 })], { exclusive: true }).look()).rejects.toThrow("died");
    await program([migration(2)], { exclusive: true }).look();
    expect(await formatNow()).toMatchObject({ version: 2 });
  });

  it("comes to the same when two are at it, and one loses the lead in the middle of a part", async () => {
    let resume = () => {};
    const slow = migration(2);
    const held = new Promise<void>((done) => {
      resume = done;
    });
    const first = program([
      {
        ...slow,
        step: (cursor) => (cursor === "3" ? held : Promise.resolve()).then(() => slow.step(cursor)),
      },
    ]);
    const looking = first.look();
    while (parts.length < 1) await clock.yield();
    clock.atMs += MIGRATION_LEASE_MS + 1;
    await program([migration(2)]).look();
    resume();
    await looking;
    expect(records).toEqual(Array(RECORDS).fill(1));
    expect(await formatNow()).toEqual({ version: 2, readersMin: 1, program: "2.0.0" });
    expect(said).toEqual([2]);
  });

  it("lets an older program go on beside it when it may", async () => {
    await program([migration(2)]).look();
    await program([], { name: "1.0.0" }).look();
    expect(said).toEqual([2]);
  });

  it("tells older programs to end before the first record that they cannot read", async () => {
    const newer = program([migration(2, { readersMin: 2 })]);
    await newer.look();
    expect(await formatNow()).toMatchObject({
      version: 1,
      readersMin: 2,
      migration: { to: 2, cursor: null },
    });
    expect(parts).toEqual([]);
    await program([], { name: "1.0.0" }).look();
    expect(said).toEqual([
      "the database is being raised to format 2 by recalld 2.0.0, and needs a program that knows format 2; " +
        "this is recalld 1.0.0, which knows format 1: start the newer one, or restore a backup from before",
    ]);
    clock.atMs += NOTICE_MS - 1;
    await newer.look();
    expect(parts).toEqual([]);
    clock.atMs += 1;
    await newer.look();
    expect(parts).toHaveLength(4);
    expect(await formatNow()).toEqual({ version: 2, readersMin: 2, program: "2.0.0" });
  });

  it("does not wait for anybody where nobody else can be", async () => {
    await program([migration(2, { readersMin: 2 })], { exclusive: true }).look();
    expect(await formatNow()).toMatchObject({ version: 2, readersMin: 2 });
  });

  it("stops behind the part that is being done when it is closed", async () => {
    const migrating = program([migration(2)]);
    const looking = migrating.look();
    while (parts.length < 1) await clock.yield();
    await migrating.close();
    await looking;
    expect(parts.length).toBeLessThan(4);
    expect(await formatNow()).toMatchObject({
      version: 1,
      migration: { cursor: String(PART * parts.length) },
    });
  });
});

describe("a program", () => {
  const ofFormat = async (format: Partial<Format>) => {
    await storage.formats.mark({ version: 7, readersMin: 7, program: "9.9.9", ...format });
  };

  it("is refused by a newer database, and told both versions", async () => {
    await ofFormat({});
    const reader = { known: latestOf([]), program: "0.1.0" };
    await expect(admit(storage.formats, reader)).rejects.toMatchObject({
      code: "failed_precondition",
      message:
        "the database is of format 7 by recalld 9.9.9, and needs a program that knows format 7; " +
        "this is recalld 0.1.0, which knows format 1: start the newer one, or restore a backup from before",
    });
  });

  it("may use a newer database that says so", async () => {
    await ofFormat({ readersMin: 1 });
    expect(await admit(storage.formats, { known: 1, program: "0.1.0" })).toMatchObject({ version: 7 });
  });
});
