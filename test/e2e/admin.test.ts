import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { admin } from "../support/admin.js";
import { doorsOf } from "../support/doors.js";
import { openTestMongo } from "../support/mongo/open.js";
import { newDataDir, startServer } from "../support/server.js";

// Whole servers start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const mongo = await openTestMongo();
afterAll(async () => void ("stop" in mongo && (await mongo.stop())));

const databases = [
  { name: "local", env: {}, skip: false },
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
      const made = await admin(settings, "create-account", "--email", "ada@example.org");
      expect(made.code, made.stderr).toBe(0);
      expect(made.stdout).toMatch(/^rcl_[0-9A-Za-z]{49}\n$/);
      expect(made.stderr).toMatch(/^account acc_\w{26}, plan free, 7 calls/);
      expect(made.stderr).not.toContain("rcl_");
      const { DATA_DIR: dataDir = "", ...rest } = settings;
      const server = await startServer({ dataDir, env: rest });
      for (const door of doorsOf(server.url)) {
        expect((await door.call("SignUp", {})).code).toBe("permission_denied");
        const { body } = await door.call("GetAccount", {}, { key: made.stdout.trim() });
        expect(body).toMatchObject({ email: "ada@example.org", calls_limit: 7 });
      }
      await server.stop();
    });

    it("is told what is wrong with the email", async () => {
      expect(await admin(settings, "create-account", "--email", "ada")).toEqual({
        code: 1,
        stdout: "",
        stderr: "recalld: email is not of the form name@host\n",
      });
    });
  });
}

describe("the operator", () => {
  it("is told that the server holds the folder", async () => {
    const server = await startServer();
    const refused = await admin({ DATA_DIR: server.dataDir }, "create-account");
    await server.stop();
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toBe(`recalld: DATA_DIR ${server.dataDir} is in use by another recalld\n`);
  });

  it("is told all that is wrong with the settings", async () => {
    const refused = await admin({ PORT: "x", FREE_CALLS: "y" }, "create-account");
    expect(refused.stderr.split("\n")).toEqual([
      expect.stringMatching(/^recalld: PORT is "x"/),
      expect.stringMatching(/^recalld: FREE_CALLS is "y"/),
      "",
    ]);
  });

  it.each([
    [],
    ["create"],
    ["create-account", "now"],
    ["create-account", "--mail", "a@b"],
    ["--email", "a@b"],
  ])("is shown the usage for %j %j %j", async (...args) => {
    const refused = await admin({ DATA_DIR: "/nowhere" }, ...args.flatMap((arg) => arg ?? []));
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(/^usage: npm run -s admin -- COMMAND/);
  });
});
