import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { commandsOf, nameOf } from "../../src/admin/command-line.js";
import { adminCommands } from "../../src/admin/commands.js";
import { askOwner } from "../../src/storage/local/owner/owner.js";
import { admin } from "../support/admin.js";
import { callerAt, resultsOf } from "../support/caller.js";
import { LOCAL_DATABASE } from "../support/databases.js";
import { openTestMongo } from "../support/mongo/open.js";
import { protocolsOf } from "../support/protocols.js";
import { newDataDir, startServer } from "../support/server.js";

// Whole servers start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const mongo = await openTestMongo();
afterAll(async () => void ("stop" in mongo && (await mongo.stop())));

/** Number of memories whose words and metadata take more than half of the bytes from which on they have a file. */
const LARGE = 250;

/** Makes a memory whose metadata has about as many values as it may. */
function largeMemory(n: number) {
  const metadata = Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`key${i}`, `${n} of ${i}`]));
  return { text: `This is number ${n}.`, metadata };
}

const commands = commandsOf(adminCommands(async () => {}));

const databases = [
  { name: "local", env: {}, skip: LOCAL_DATABASE.missing !== undefined },
  "reason" in mongo
    ? { name: `mongo (skipped: ${mongo.reason})`, env: {}, skip: true }
    : { name: "mongo", env: { MONGODB_URI: mongo.uri }, skip: false },
];

for (const { name, env, skip } of databases) {
  describe.skipIf(skip)(`the operator, on ${name}`, () => {
    let settings: Record<string, string>;
    beforeAll(() => {
      settings = { ...env, DATA_DIR: newDataDir(), FREE_CALLS: "7", SIGNUP: "closed" };
    });

    it("makes an account although sign-up is closed, and its key works", async () => {
      const made = await admin(settings, "accounts", "create", "--email", "ada@example.org");
      expect(made.code, made.stderr).toBe(0);
      expect(made.stdout).toMatch(/^rcl_[0-9A-Za-z]{49}\n$/);
      expect(made.stderr).toMatch(
        /^account_id +acc_\w{26}\nemail +ada@example.org\nplan +free\ncalls_limit +7\n/,
      );
      expect(made.stderr).not.toContain("rcl_");
      const { DATA_DIR: dataDir = "", ...rest } = settings;
      const server = await startServer({ dataDir, env: rest });
      for (const protocol of protocolsOf(server.url)) {
        expect((await protocol.call("SignUp", {})).code).toBe("permission_denied");
        const { body } = await protocol.call("GetAccount", {}, { key: made.stdout.trim() });
        expect(body).toMatchObject({ email: "ada@example.org", calls_limit: 7 });
      }
      await server.stop();
    });

    it.each([
      [["accounts", "create", "--email", "ada"], "email is not of the form name@host"],
      [["accounts", "list", "--limit", "0"], "limit is 0; it must be a whole number from 1 to 1000"],
      [["index", "status", "--limit", "1001"], "limit is 1001; it must be a whole number from 1 to 1000"],
    ])("is told what is wrong with a value: %j", async (line, message) => {
      expect(await admin(settings, ...line)).toEqual({
        code: 2,
        stdout: "",
        stderr: `recalld-admin: ${message}\n`,
      });
    });

    it("manages accounts and keys, beside a server and without one", async () => {
      const { DATA_DIR: dataDir = "", ...rest } = settings;
      const ask = async (...args: string[]) => {
        const { code, stdout, stderr } = await admin(settings, ...args, "--json");
        expect(code, stderr).toBe(0);
        expect(stderr).toBe("");
        return JSON.parse(stdout);
      };
      const code = async (...args: string[]) => (await admin(settings, ...args)).code;
      const { account_id: id, api_key: first } = await ask("accounts", "create");
      const server = await startServer({ dataDir, env: rest });
      const [protocol] = protocolsOf(server.url);
      const store = async (key: string, namespace = "n") =>
        (await protocol?.call("Store", { namespace, text: "kept by nobody" }, { key }))?.code;

      const { id: keyId, api_key: second } = await ask(
        ...["keys", "create", id, "--name", "laptop", "--namespace", "n"],
      );
      expect([await store(first), await store(second), await store(second, "other")]).toEqual([
        ...["ok", "ok", "permission_denied"],
      ]);
      expect(
        (await ask("accounts", "list")).map((each: { account_id: string }) => each.account_id),
      ).toContain(id);
      expect(await ask("accounts", "show", id)).toMatchObject({ calls_limit: 7, calls_used: 2, keys: 2 });
      const keys = await ask("keys", "list", id);
      expect(keys).toMatchObject([
        { access: "full", namespace: null },
        { id: keyId, name: "laptop", prefix: second.slice(0, 8), namespace: "n" },
      ]);
      expect(JSON.stringify(keys)).not.toMatch(/rcl_\w{9}|hash/);
      await ask("keys", "revoke", id, keyId);
      expect(await store(second)).toBe("unauthenticated");
      expect(await code("keys", "revoke", id, keys[0].id)).toBe(1);
      expect(await code("keys", "create", "acc_nobody")).toBe(1);

      expect(await code("accounts", "close", id)).toBe(1);
      expect(await store(first)).toBe("ok");
      await server.stop();
      expect((await ask("usage", id, "--days", "2")).at(-1)).toMatchObject({ stores: 3, recalls: 0 });
      expect(await ask("accounts", "close", id, "--force")).toEqual({ account_id: id, deleted: 3 });
      expect(await code("accounts", "show", id)).toBe(1);
      expect(await ask("verify")).toMatchObject({ memories: 0, erased: 3, problems: [] });
    });

    it("sees how far index files are, and rebuilds an index, beside a server and without one", async () => {
      const dataDir = newDataDir();
      const own = { ...env, DATA_DIR: dataDir, FREE_CALLS: "1000" };
      const ask = async (...args: string[]) => {
        const { code, stdout, stderr } = await admin(own, ...args, "--json");
        expect(code, stderr).toBe(0);
        return JSON.parse(stdout);
      };
      const { account_id: id, api_key: key } = await ask("accounts", "create");
      expect(await ask("index", "status")).toEqual([]);
      const start = () => startServer({ dataDir, env: { ...env, FREE_CALLS: "1000" } });
      const first = await start();
      const caller = callerAt(first.url, { id, key });
      for (let from = 0; from < 2 * LARGE; from += LARGE) {
        const memories = Array.from({ length: LARGE }, (_, i) => largeMemory(from + i));
        const { code, message } = await caller.call("POST /store/batch", {
          body: { namespace: "n", memories },
        });
        expect(code, message).toBe("ok");
      }
      const open = { account_id: id, namespace: "n", open: true, memories: 2 * LARGE, last_entry: 2 * LARGE };
      await vi.waitFor(async () => {
        const [status, ...others] = await ask("index", "status");
        expect(others).toEqual([]);
        expect(status).toMatchObject({ ...open, vectors_upto: 0, lag: 2 * LARGE, vectors: 0 });
        expect(status.rows).toBeGreaterThan(0);
        expect(status.bytes).toBeGreaterThan(4_000_000);
      }, 20_000);
      expect(await ask("index", "rebuild", id, "n")).toMatchObject({ account_id: id, namespace: "n" });
      expect(await ask("index", "status")).toEqual([]);
      const [best] = resultsOf(await caller.recall("What is number 7?", "n", 1));
      expect(best?.text).toBe("This is number 7.");
      expect(await admin(own, "index", "rebuild", id, "m")).toMatchObject({ code: 1, stdout: "" });
      expect(await first.stop()).toBe(0);

      const [closed] = await ask("index", "status");
      expect(closed).toMatchObject({ ...open, open: false, rows_removed: 0 });
      expect(closed.words_upto).toBeGreaterThan(LARGE);
      await ask("index", "rebuild", id, "n");
      expect(await ask("index", "status")).toEqual([]);
      const second = await start();
      const [again] = resultsOf(await caller.at(second.url).recall("What is number 7?", "n", 1));
      expect(again?.text).toBe("This is number 7.");
      expect(await second.stop()).toBe(0);
    }, 180_000);
  });
}

describe("the operator", () => {
  it("gives an account another plan, and what was used stays used", async () => {
    const dataDir = newDataDir();
    const file = join(dataDir, "plans.json");
    writeFileSync(file, '{"free":{"calls":5},"pro":{"calls":null,"calls_per_second":9}}');
    const env = { DATA_DIR: dataDir, PLANS_FILE: file };
    const ask = async (...args: string[]) => JSON.parse((await admin(env, ...args, "--json")).stdout);
    const { account_id: id } = await ask("accounts", "create");
    expect(await ask("plans", "list")).toEqual([
      { plan: "free", calls: 5, calls_per_second: null, burst: null, concurrent_calls: null },
      { plan: "pro", calls: null, calls_per_second: 9, burst: 9, concurrent_calls: null },
    ]);
    expect(await ask("plans", "set", id, "pro")).toMatchObject({
      plan: "pro",
      calls_limit: null,
      calls_used: 0,
    });
    const refused = await admin(env, "plans", "set", id, "gold");
    expect(refused).toMatchObject({
      code: 1,
      stderr: 'recalld-admin: there is no plan "gold" here; there are free, pro\n',
    });
  });

  it("makes no key where no account is named", async () => {
    const env = { DATA_DIR: newDataDir() };
    const made = await admin(env, "accounts", "create", "--json");
    const { account_id: id } = JSON.parse(made.stdout);
    expect((await admin(env, "keys", "create", "")).stderr).toMatch(/ACCOUNT is empty\n/);
    expect(JSON.parse((await admin(env, "keys", "list", id, "--json")).stdout)).toHaveLength(1);
  });

  it("is told that a folder holds no database, and makes none by looking", async () => {
    const dataDir = newDataDir();
    const refused = await admin({ DATA_DIR: dataDir }, "accounts", "list");
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain(`recalld-admin: DATA_DIR ${dataDir} cannot be used: ENOENT`);
    expect(readdirSync(dataDir)).toEqual([]);
  });

  it("is told when the database does not answer, with a code of its own", async () => {
    const env = { MONGODB_URI: "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=100" };
    expect((await admin(env, "accounts", "list")).code).toBe(3);
  });

  it("is told all that is wrong with the settings", async () => {
    const refused = await admin({ PORT: "x", FREE_CALLS: "y" }, "accounts", "create");
    expect(refused.code).toBe(2);
    expect(refused.stderr.split("\n")).toEqual([
      expect.stringMatching(/^recalld-admin: PORT is "x"/),
      expect.stringMatching(/^recalld-admin: FREE_CALLS is "y"/),
      "",
    ]);
  });

  it("is told all that is wrong with the file of plans, as with any setting", async () => {
    const dataDir = newDataDir();
    const file = join(dataDir, "plans.json");
    writeFileSync(file, '{"free":{"calls":"many","burst":0}}');
    const refused = await admin({ DATA_DIR: dataDir, PLANS_FILE: file }, "accounts", "create");
    expect(refused.code).toBe(2);
    expect(refused.stderr.split("\n")).toEqual([
      expect.stringContaining(`recalld-admin: PLANS_FILE ${file} plan "free": calls is "many"`),
      expect.stringContaining(`recalld-admin: PLANS_FILE ${file} plan "free": burst is 0`),
      `recalld-admin: PLANS_FILE ${file} plan "free": burst needs calls_per_second`,
      "",
    ]);
    const gone = await admin({ DATA_DIR: dataDir, PLANS_FILE: "/nowhere/plans.json" }, "accounts", "create");
    expect(gone).toMatchObject({ code: 2, stderr: expect.stringContaining("cannot be read") });
  });

  it("is told what the server could not do, and the server logs it", async () => {
    const server = await startServer();
    const ask = (request: unknown) => askOwner(server.dataDir, request as never);
    const path = join(server.dataDir, "recalld.mdb", "backup");
    await expect(ask({ operation: "backup", given: { path } })).rejects.toMatchObject({
      code: "unavailable",
    });
    await vi.waitFor(() => expect(server.output()).toContain('"msg":"the operator\'s command failed"'));
    expect(server.output()).toMatch(
      /the backup could not be written.*(ENOTDIR|EEXIST).*"operation":"backup"/,
    );
    await server.stop();
  });

  it("is shown what users chose without what would control the terminal", async () => {
    const env = { DATA_DIR: newDataDir() };
    await admin(env, "accounts", "create");
    const [account] = JSON.parse((await admin(env, "accounts", "list", "--json")).stdout);
    const root = open({ path: join(env.DATA_DIR, "recalld.mdb"), maxDbs: 32 });
    const accounts = root.openDB("accounts", { encoding: "json" });
    const stored = accounts.get(account.account_id);
    await accounts.put(account.account_id, { ...stored, email: "a\u001b[2J@b" });
    await root.close();
    expect((await admin(env, "accounts", "list")).stdout).toContain("a\ufffd[2J@b");
  });

  it.each([
    ["", "usage: recalld-admin COMMAND"],
    ["create", "unknown command 'create'"],
    ["accounts", "usage: recalld-admin accounts COMMAND"],
    ["accounts create now", "too many arguments for 'create'"],
    ["accounts create --mail a@b", "unknown option '--mail'"],
    ["accounts show", "missing required argument 'ACCOUNT'"],
    ["accounts show ", "ACCOUNT is empty"],
    [
      "usage a --days many",
      "option '--days <NUMBER>' argument 'many' is invalid. It must be a whole number.",
    ],
    ["keys create a --namespace=", "--namespace is empty"],
    ["accounts list --after=", "--after is empty"],
    ["accounts list --limit=", "It must be a whole number"],
    ["--email a@b", "unknown option '--email'"],
  ])("is told what is wrong with: recalld-admin %s", async (line, wrong) => {
    const refused = await admin({ DATA_DIR: "/nowhere" }, ...(line === "" ? [] : line.split(" ")));
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr.split("\n")[0]).toContain(wrong);
    expect(refused.stderr).toMatch(/^usage: recalld-admin /m);
  });

  it.each(["--help", "help", "keys --help", ...commands.map((command) => `${nameOf(command)} --help`)])(
    "is helped by: recalld-admin %s",
    async (line) => {
      const helped = await admin({ DATA_DIR: "/nowhere" }, ...line.split(" "));
      expect(helped).toMatchObject({ code: 0, stderr: "" });
      expect(helped.stdout).toMatch(/^usage: recalld-admin /);
    },
  );
});
