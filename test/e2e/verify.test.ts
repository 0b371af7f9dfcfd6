import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MongoClient } from "mongodb";
import { afterAll, describe, expect, it, vi } from "vitest";
import { withDatabase } from "../support/mongo/database.js";
import { openTestMongo } from "../support/mongo/open.js";
import { program } from "../support/program.js";
import { protocolsOf } from "../support/protocols.js";
import { newDataDir, startServer } from "../support/server.js";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const ADMIN = program("admin");
const SECRET = "zanzibar quokka ledger";

function admin(env: Record<string, string>, ...command: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [ADMIN, ...command], { env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    );
  });
}

const mongo = await openTestMongo();
const skipped = "reason" in mongo ? ` (skipped: ${mongo.reason})` : "";
afterAll(async () => void ("stop" in mongo && (await mongo.stop())));

/** Stores two memories, forgets one of them and a whole namespace, and stops the server. */
async function storeAndForget(dataDir: string, env: Record<string, string>): Promise<void> {
  const server = await startServer({ dataDir, env });
  const [protocol] = protocolsOf(server.url);
  if (protocol === undefined) throw new Error("no protocol");
  const key = String((await protocol.call("SignUp", {})).body.api_key);
  await protocol.call("Store", { namespace: "n", text: "to be kept" }, { key });
  const { body } = await protocol.call("Store", { namespace: "n", text: SECRET }, { key });
  await protocol.call("Store", { namespace: "gone", text: SECRET }, { key });
  expect((await protocol.call("DeleteMemory", { namespace: "n", id: body.id as string }, { key })).code).toBe(
    "ok",
  );
  expect((await protocol.call("DeleteNamespace", { namespace: "gone", force: true }, { key })).code).toBe(
    "ok",
  );
  await server.stop();
}

const bytesIn = (dataDir: string) =>
  readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("models"))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)));

describe("verify and compact", () => {
  it("show that nothing of a forgotten text is left in the embedded database", async () => {
    const dataDir = newDataDir();
    await storeAndForget(dataDir, {});
    expect(await admin({ DATA_DIR: dataDir }, "verify")).toEqual({
      code: 0,
      output: "2 logs, 1 memory, 2 erased, 0 indexes in files\nall is well\n",
    });
    expect((await admin({ DATA_DIR: dataDir }, "compact")).output).toMatch(/bytes before, .* after/);
    expect((await admin({ DATA_DIR: dataDir }, "verify")).code).toBe(0);
    // Not even their bytes remain, because free pages go with the old file.
    for (const bytes of bytesIn(dataDir)) expect(bytes.includes(SECRET)).toBe(false);
    expect(bytesIn(dataDir).some((bytes) => bytes.includes("to be kept"))).toBe(true);
  });

  it("leave nothing of a compaction that was killed, nor of a restore", async () => {
    const dataDir = newDataDir();
    await storeAndForget(dataDir, {});
    writeFileSync(join(dataDir, "compact-recalld.mdb"), SECRET);
    mkdirSync(join(dataDir, "restoring-abc"));
    writeFileSync(join(dataDir, "restoring-abc", "recalld.mdb"), SECRET);
    const server = await startServer({ dataDir });
    expect(readdirSync(dataDir).filter((name) => /^(compact|restoring)-/.test(name))).toEqual([]);
    await server.stop();
  });

  it("are refused while a server is at work on the folder", async () => {
    const server = await startServer();
    for (const command of ["verify", "compact"]) {
      const { code, output } = await admin({ DATA_DIR: server.dataDir }, command);
      expect(output).toMatch(/^recalld-admin: DATA_DIR .* is in use by another recalld\n$/);
      expect(code).toBe(1);
    }
    await server.stop();
  });

  it("are told that there is no database, and make none", async () => {
    const dataDir = join(newDataDir(), "typo");
    for (const command of ["verify", "compact"]) {
      const { code, output } = await admin({ DATA_DIR: dataDir }, command);
      expect(output).toContain(`recalld-admin: DATA_DIR ${dataDir} cannot be used: ENOENT`);
      expect(code).toBe(1);
    }
    expect(existsSync(dataDir)).toBe(false);
  });

  it.skipIf("reason" in mongo)(`are told that a MongoDB has no such database${skipped}`, async () => {
    if ("reason" in mongo) return;
    const uri = withDatabase(mongo.uri, `recalld_typo_${process.pid}`);
    for (const command of ["verify", "accounts list"]) {
      expect(await admin({ MONGODB_URI: uri }, ...command.split(" "))).toEqual({
        code: 1,
        output: `recalld-admin: MONGODB_URI: the database recalld_typo_${process.pid} holds nothing of recalld\n`,
      });
    }
    const client = await MongoClient.connect(uri);
    expect(await client.db().listCollections().toArray()).toEqual([]);
    await client.close();
  });

  it.skipIf("reason" in mongo)(`read a MongoDB as well${skipped}`, async () => {
    if ("reason" in mongo) return;
    const env = { MONGODB_URI: mongo.uri };
    const dataDir = newDataDir();
    await storeAndForget(dataDir, env);
    const { code, output } = await admin({ ...env, DATA_DIR: dataDir }, "verify");
    expect(output).toBe("2 logs, 1 memory, 2 erased, 0 indexes in files\nall is well\n");
    expect(code).toBe(0);
  });
});
