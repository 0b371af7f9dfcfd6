import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";
import { MongoClient } from "mongodb";
import { afterAll, describe, expect, it, vi } from "vitest";
import { OUR_FORMAT } from "../../src/storage/format.js";
import { openLocal } from "../../src/storage/local/open.js";
import { admin } from "../support/admin.js";
import { signUp } from "../support/caller.js";
import { openTestMongo } from "../support/mongo/open.js";
import { newDataDir, runUntilExit, startServer } from "../support/server.js";

// Whole servers start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

const mongo = await openTestMongo();
const skipped = "reason" in mongo ? ` (skipped: ${mongo.reason})` : "";
afterAll(async () => void ("stop" in mongo && (await mongo.stop())));

const NEWER = { format: 7, program: "9.9.9" };
/** One line that says what it is, and the way out. */
const REFUSAL =
  /^recalld(-admin)?: the (database|backup) \S+( of MONGODB_URI)? is of format 7, by recalld 9\.9\.9; this is recalld [\d.]+, which uses format \d+ alone: export the memories .*\(recalld export\).*\(recalld import\)\n$/;

async function folderOf(format: typeof NEWER): Promise<string> {
  const dataDir = newDataDir();
  await (await openLocal({ dataDir })).close();
  const root = open({ path: join(dataDir, "recalld.mdb") });
  await root.openDB("meta", { encoding: "json" }).put("format", format);
  await root.close();
  return dataDir;
}

describe("a database of another format", () => {
  it("is refused in one line by the server and by every command", async () => {
    const dataDir = await folderOf(NEWER);
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
    const folder = join(newDataDir(), "backup");
    mkdirSync(folder);
    const file = { name: "recalld.mdb", bytes: 1, sha256: "x" };
    writeFileSync(join(folder, "manifest.json"), JSON.stringify({ ...NEWER, file, counts: { memories: 0 } }));
    const refused = await admin({ DATA_DIR: newDataDir() }, "restore", folder);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(REFUSAL) });
  });

  it.skipIf("reason" in mongo)(`is refused on MongoDB in the same way${skipped}`, async () => {
    if ("reason" in mongo) return;
    const client = await MongoClient.connect(mongo.uri);
    const meta = client.db().collection<{ _id: string }>("meta");
    await meta.insertOne({ _id: "format", ...NEWER });
    const { code, output } = await runUntilExit({
      DATA_DIR: newDataDir(),
      PORT: "0",
      MONGODB_URI: mongo.uri,
    });
    expect(output).toMatch(REFUSAL);
    expect(code).toBe(1);
    await meta.deleteOne({ _id: "format" });
    await client.close();
  });
});

it.skipIf("reason" in mongo)(`two servers create one database at once${skipped}`, async () => {
  if ("reason" in mongo) return;
  const env = { MONGODB_URI: mongo.uri };
  const [first, second] = await Promise.all([startServer({ env }), startServer({ env })]);
  const ana = await signUp(first.url);
  await ana.store({ text: "Ana likes tea.", namespace: "n" });
  expect((await ana.at(second.url).recall("tea", "n")).body.results).toMatchObject([
    { text: "Ana likes tea." },
  ]);
  const client = await MongoClient.connect(mongo.uri);
  const kept = await client.db().collection<{ _id: string }>("meta").findOne({ _id: "format" });
  expect(kept).toEqual({ _id: "format", ...OUR_FORMAT });
  await client.close();
  expect([await first.stop(), await second.stop()]).toEqual([0, 0]);
});

it("index files of other formats are gone after the start", async () => {
  const dataDir = newDataDir();
  const files = ["snapshots/ab.json", "snapshots/ab.usearch", "snapshots/ab_0.json", "words/ab.words"];
  for (const folder of ["snapshots", "words"]) mkdirSync(join(dataDir, folder));
  for (const file of files) writeFileSync(join(dataDir, file), '{"format":1}');
  const server = await startServer({ dataDir });
  expect(files.filter((file) => existsSync(join(dataDir, file)))).toEqual([]);
  expect(await server.stop()).toBe(0);
});
