import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { admin, recalld } from "../support/admin.js";
import { callerAt, resultsOf } from "../support/caller.js";
import { newDataDir, sharedServer, startServer } from "../support/server.js";

// The programs' main promises. Their other tests start them some three hundred times, and are for `npm run test:all`.
vi.setConfig({ testTimeout: 60_000 });

it("an operator makes an account, and takes a backup beside the server, which another server goes on with", async () => {
  const first = await startServer({ env: { SIGNUP: "closed" } });
  const beside = { DATA_DIR: first.dataDir };
  const made = await admin(beside, "accounts", "create", "--json");
  expect(made.code, made.stderr).toBe(0);
  const { account_id: id, api_key: key } = JSON.parse(made.stdout);
  const caller = callerAt(first.url, { id, key });
  await caller.store({ text: "Ada prefers tea over coffee.", namespace: "n" });
  const [backup, dataDir] = [join(newDataDir(), "backup"), newDataDir()];
  expect(await admin(beside, "backup", backup)).toMatchObject({ code: 0 });
  expect(await first.stop()).toBe(0);
  const restored = await admin({ DATA_DIR: dataDir }, "restore", backup);
  expect(restored.stdout, restored.stderr).toContain("all was read back, and is well");
  expect((await admin({ DATA_DIR: dataDir }, "verify")).stdout).toContain("all is well");
  const second = await startServer({ dataDir });
  const [best] = resultsOf(await caller.at(second.url).recall("What does Ada drink?", "n"));
  expect(best?.text).toBe("Ada prefers tea over coffee.");
  expect(await second.stop()).toBe(0);
});

it("a user signs up, stores and recalls on the command line", async () => {
  const { url } = await sharedServer();
  const env = { RECALLD_URL: url, RECALLD_PROFILE: join(newDataDir(), "profile.json") };
  expect(await recalld(env, "signup")).toMatchObject({ code: 0 });
  expect(await recalld(env, "store", "Ada prefers tea over coffee.")).toMatchObject({ code: 0 });
  const { stdout } = await recalld(env, "recall", "What does Ada drink?");
  expect(stdout).toContain("Ada prefers tea over coffee.");
});
