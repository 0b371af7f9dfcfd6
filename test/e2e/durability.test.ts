import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { open } from "lmdb";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { ModelsRecord, Pinned } from "../../src/memory/ports/model-version.js";
import { expectGot, expectRecalled, type StoredMemory, storedMemoryOf } from "../faults/load.js";
import { type Caller, signUp } from "../support/caller.js";
import { chanceOf } from "../support/chance.js";
import { DATABASES, LOCAL_DATABASE, MONGO_DATABASE } from "../support/databases.js";
import { openTestMongo } from "../support/mongo/open.js";
import { newDataDir, runUntilExit, startServer, type TestServer } from "../support/server.js";

// Machines that run many tests at once are slow. A test that must be quick sets its own limit.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const TIMEOUT_MS = 60_000;

const servers: TestServer[] = [];
const begin = async (starting: Promise<TestServer>) => {
  const server = await starting;
  servers.push(server);
  return server;
};
afterEach(async () => {
  for (const server of servers.splice(0)) await server.kill();
});

async function storeSome(caller: Caller, count: number): Promise<StoredMemory[]> {
  const chance = chanceOf(1);
  const kept: StoredMemory[] = [];
  for (let i = 0; i < count; i++) {
    const sent = { text: chance.text(), namespace: chance.pick(["a", "b"]), metadata: chance.metadata() };
    const outcome = await caller.store(sent);
    expect(outcome.code).toBe("ok");
    kept.push(storedMemoryOf(caller, sent, outcome));
  }
  return kept;
}

describe.each(DATABASES)("on $name", ({ make, missing }) => {
  it.skipIf(missing !== undefined)(
    "keeps memories and accounts over a stop and a start",
    async () => {
      const database = await make();
      const first = await begin(database.start());
      const kept = await storeSome(await signUp(first.url), 10);
      expect(await first.stop()).toBe(0);
      const second = await begin(database.start());
      for (const each of kept) {
        await expectGot(each, second.url);
        await expectRecalled(each, second.url);
      }
      expect(await (kept[0] as StoredMemory).caller.at(second.url).used()).toBe(20);
    },
    TIMEOUT_MS,
  );
});

describe("SIGTERM", () => {
  it(
    "finishes the calls that run, and exits with 0",
    async () => {
      // Connections that wait to be accepted end with the listener: the notice is for them.
      const env = { DRAIN_NOTICE_MS: "500" };
      const server = await begin(LOCAL_DATABASE.make().then((database) => database.start(env)));
      const caller = await signUp(server.url);
      const chance = chanceOf(4);
      const sent = Array.from({ length: 40 }, () => ({ text: chance.text(), namespace: "n", metadata: {} }));
      const calls = sent.map((each) => caller.store(each));
      // By now, the others have arrived or are on their way.
      await Promise.race(calls);
      const stopped = server.stop();
      const outcomes = await Promise.allSettled(calls);
      expect(await stopped).toBe(0);
      const answered = outcomes.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
      expect(answered.map(({ code }) => code)).toEqual(answered.map(() => "ok"));
      expect(answered.length).toBe(sent.length);
      const again = await begin(startServer({ dataDir: server.dataDir }));
      for (const [i, outcome] of answered.entries()) {
        await expectGot(storedMemoryOf(caller, sent[i] as (typeof sent)[0], outcome), again.url);
      }
      expect(await caller.at(again.url).used()).toBe(sent.length);
    },
    TIMEOUT_MS,
  );

  it("ends at once when nothing runs, though clients keep their connections", async () => {
    const server = await begin(startServer());
    await signUp(server.url);
    const begunMs = performance.now();
    expect(await server.stop()).toBe(0);
    expect(performance.now() - begunMs).toBeLessThan(5_000);
  });
});

describe("what stops the start", () => {
  const expectOneLine = async (env: Record<string, string>, line: RegExp) => {
    const { code, output } = await runUntilExit({ PORT: "0", EMBED_WORKERS: "1", LOG_LEVEL: "warn", ...env });
    expect(output).toMatch(line);
    expect(output.trim().split("\n")).toHaveLength(1);
    expect(code).toBe(1);
  };

  it("is a folder that another server uses", async () => {
    const { dataDir, url } = await begin(startServer());
    await expectOneLine({ DATA_DIR: dataDir }, /^recalld: DATA_DIR .* is in use by another recalld\n$/);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  it.skipIf(MONGO_DATABASE.missing !== undefined)(
    "is a folder in which another server over MongoDB keeps its snapshots",
    async () => {
      const found = await openTestMongo();
      const MONGODB_URI = "uri" in found ? found.uri : "";
      const { dataDir, url, stop } = await begin(startServer({ env: { MONGODB_URI } }));
      await expectOneLine(
        { DATA_DIR: dataDir, MONGODB_URI },
        /^recalld: DATA_DIR .* is in use by another recalld; give each replica a DATA_DIR of its own\n$/,
      );
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      await stop();
      const next = await begin(startServer({ dataDir, env: { MONGODB_URI } }));
      expect((await fetch(`${next.url}/readyz`)).status).toBe(200);
    },
  );

  it("is a port that is taken", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    await expectOneLine(
      { DATA_DIR: newDataDir(), PORT: String(port) },
      /^recalld: PORT \d+ on 127.0.0.1 is in use\n$/,
    );
    other.close();
  });

  it("is a setting that is wrong: all of them are told", async () => {
    const env = { PORT: "http", SIGNUP: "maybe", FREE_CALLS: "-1", MONGODB_URI: "x", LOGLEVEL: "info" };
    const { code, output } = await runUntilExit({ DATA_DIR: newDataDir(), ...env });
    const lines = output.trim().split("\n");
    expect(lines).toHaveLength(5);
    for (const name of Object.keys(env)) {
      expect(lines.filter((line) => line.startsWith(`recalld: ${name} `))).toHaveLength(1);
    }
    expect(code).toBe(1);
  });

  it("is a folder that is a file, or a model that is not there", async () => {
    const file = join(newDataDir(), "file");
    writeFileSync(file, "");
    await expectOneLine({ DATA_DIR: file }, /^recalld: DATA_DIR .*file cannot be used: .*\n$/);
    await expectOneLine({ DATA_DIR: newDataDir(), MODEL: "../bundled" }, /^recalld: MODEL must be .*\n$/);
  });

  it("is a database that is pinned to another model", async () => {
    const { dataDir, stop } = await begin(startServer());
    await stop();
    const root = open({ path: join(dataDir, "recalld.mdb") });
    const meta = root.openDB<ModelsRecord, string>("meta", { encoding: "json" });
    const record = meta.get("models") as ModelsRecord;
    const [first] = record.models as [Pinned];
    const models = [{ ...first, model: { ...first.model, id: "another/model" } }];
    await meta.put("models", { ...record, models });
    await root.close();
    await expectOneLine(
      { DATA_DIR: dataDir },
      /^recalld: the database is pinned to another\/model .*, but MODEL is bundled; start with that model, or with an empty database; or change the database's model: .* reembed MODEL\n$/,
    );
  });

  it.skipIf(MONGO_DATABASE.missing !== undefined)(
    "is a MongoDB that does not answer",
    async () => {
      const MONGODB_URI = "mongodb://user:S3cret@127.0.0.1:1/x?serverSelectionTimeoutMS=500";
      const { code, output } = await runUntilExit({ PORT: "0", DATA_DIR: newDataDir(), MONGODB_URI });
      expect(output).toMatch(/^recalld: MONGODB_URI: MongoDB does not answer: .*\n$/);
      expect(output).not.toContain("S3cret");
      expect(code).toBe(1);
    },
    TIMEOUT_MS,
  );
});
