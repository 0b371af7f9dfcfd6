import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { open } from "lmdb";
import { MongoClient } from "mongodb";
import { afterAll, describe, expect, it, vi } from "vitest";
import { backUp } from "../../src/storage/local/backup/back-up.js";
import { openLocal } from "../../src/storage/local/open.js";
import { startChild } from "../contract/children/start.js";
import { admin } from "../support/admin.js";
import { openTestMongo } from "../support/mongo/open.js";
import { newDataDir, runUntilExit, startServer } from "../support/server.js";

// Whole servers start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

const mongo = await openTestMongo();
const skipped = "reason" in mongo ? ` (skipped: ${mongo.reason})` : "";
afterAll(async () => void ("stop" in mongo && (await mongo.stop())));

const NEWER = { version: 7, readersMin: 7, program: "9.9.9" };
const REFUSAL =
  /: the database is of format 7 by recalld 9\.9\.9, and needs a program that knows format 7; this is recalld [\d.]+, which knows format 1/;

async function ofFormat(format: typeof NEWER): Promise<string> {
  const dataDir = newDataDir();
  const { formats, close } = await openLocal({ dataDir });
  await formats.mark(format);
  await close();
  return dataDir;
}

describe("a database of a later format", () => {
  it("is refused by the server and by every command", async () => {
    const dataDir = await ofFormat(NEWER);
    const { code, output } = await runUntilExit({ DATA_DIR: dataDir, PORT: "0" });
    expect(output).toMatch(REFUSAL);
    expect(code).toBe(1);
    for (const command of [
      "verify",
      "compact",
      "accounts list",
      "accounts create",
      "backup /tmp/none",
      "reembed --status",
    ]) {
      const refused = await admin({ DATA_DIR: dataDir }, ...command.split(" "));
      expect(refused.stderr, command).toMatch(REFUSAL);
      expect(refused).toMatchObject({ code: 1, stdout: "" });
    }
  });

  it("is not restored from a backup", async () => {
    const { backUp: copy, close } = await openLocal({ dataDir: await ofFormat(NEWER) });
    const folder = join(newDataDir(), "backup");
    const copying = async (path: string) => copy?.(path);
    const manifest = await backUp({ folder, program: "9.9.9", copy: copying, onProgress: () => {} });
    await close();
    expect(manifest.format).toBe(7);
    const refused = await admin({ DATA_DIR: newDataDir() }, "restore", folder);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(REFUSAL) });
  });

  it("is used when it says that this program may", async () => {
    const dataDir = await ofFormat({ ...NEWER, readersMin: 1 });
    const server = await startServer({ dataDir });
    expect(await server.stop()).toBe(0);
  });

  it.skipIf("reason" in mongo)(`ends a server under which it became so${skipped}`, async () => {
    if ("reason" in mongo) return;
    const server = await startServer({ env: { MONGODB_URI: mongo.uri } });
    const client = new MongoClient(mongo.uri);
    const name = new URL(mongo.uri).pathname.slice(1) || "recalld";
    const meta = client.db(name).collection<{ _id: string; format: unknown; revision: number }>("meta");
    await vi.waitFor(async () => expect(await meta.findOne({ _id: "format" })).toBeTruthy(), 5_000);
    await meta.updateOne({ _id: "format" }, { $set: { format: NEWER, revision: 2 } });
    await client.close();
    await vi.waitFor(() => expect(server.output()).toMatch(REFUSAL), 15_000);
    expect(await server.stop()).toBe(1);
  });
});

describe("a migration", () => {
  it("that is cut down by kill -9, again and again, goes on where it was, and changes each record once", async () => {
    const dataDir = newDataDir();
    const records = open<number, number>({ path: join(dataDir, "records.mdb") });
    for (let i = 0; i < 500; i++) await records.put(i, 0);
    await records.flushed;
    const said: string[] = [];
    let kills = 0;
    for (; kills < 50 && !said.includes("done"); kills++) {
      const child = startChild("migrate", dataDir);
      said.push(await child.hear());
      await sleep(100 + 20 * (kills % 5));
      said.push(...(await child.kill()));
    }
    expect(said.at(-1)).toBe("done");
    expect(kills).toBeGreaterThan(2);
    // Each kill may repeat one part and no more, so no run began from the start.
    expect(said.length).toBeLessThan(500 / 20 + 2 + 2 * kills);
    expect(said.filter((line) => line === "from the beginning").length).toBeLessThan(3);
    expect([...records.getRange()].map(({ value }) => value)).toEqual(Array(500).fill(1));
    await records.close();
    const { formats, close } = await openLocal({ dataDir });
    expect((await formats.read())?.format).toEqual({ version: 2, readersMin: 1, program: "test" });
    await close();
  });
});
