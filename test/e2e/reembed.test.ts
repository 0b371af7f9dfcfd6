import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { open } from "lmdb";
import { describe, expect, it, vi } from "vitest";
import { changeModelUnderLoad } from "../faults/reembed.js";
import { admin } from "../support/admin.js";
import { resultsOf, signUp } from "../support/caller.js";
import { openTestMongo } from "../support/mongo/open.js";
import { OTHER_MODEL, otherModelsDir } from "../support/other-model.js";
import { prose } from "../support/prose.js";
import { newDataDir, runUntilExit, startServer } from "../support/server.js";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

describe("changing the model under load", () => {
  it("fails no call, mixes no models and goes on after kill -9, on local", async () => {
    const dataDir = newDataDir();
    const figures = await changeModelUnderLoad({
      start: (env) => startServer({ dataDir, env }),
      replicas: 1,
      env: { DATA_DIR: dataDir },
      memories: 1500,
      killAt: 0.3,
      seed: 1,
    });
    expect(figures.kills).toBe(1);
    expect(figures.recalls).toBeGreaterThan(300);
  });
});

describe("a model that is not there any more", () => {
  it("is changed at once: namespaces are read anew as they are used", async () => {
    const dataDir = newDataDir();
    const first = await startServer({ dataDir });
    const caller = await signUp(first.url);
    const texts = prose(40);
    for (const [i, text] of texts.entries()) await caller.store({ text, namespace: i % 2 ? "odd" : "even" });
    await first.stop();
    await forgetRevision(dataDir);
    expect((await runUntilExit({ DATA_DIR: dataDir, PORT: "0" })).output).toContain(
      "They differ in revision",
    );

    const reembedding = admin({ DATA_DIR: dataDir }, "reembed", "bundled", "--at-once");
    // The plan is written before the service looks for one. Each command takes the folder for a moment, and
    // one that asks too often would keep the other from it on a busy machine.
    const status = async () => (await admin({ DATA_DIR: dataDir }, "reembed", "--status")).stdout;
    await vi.waitFor(
      async () => {
        await sleep(2000);
        expect(await status()).toContain("switching bundled");
      },
      { timeout: 30_000 },
    );
    const second = await startServer({ dataDir });
    for (const [i, text] of texts.entries()) {
      const [best] = resultsOf(await caller.at(second.url).recall(text, i % 2 ? "odd" : "even"));
      expect(best).toMatchObject({ text, score: expect.closeTo(1, 3) });
    }
    expect((await reembedding).code).toBe(0);
    expect(await second.stop()).toBe(0);
    const third = await startServer({ dataDir });
    expect(resultsOf(await caller.at(third.url).recall(texts[0] as string, "even"))[0]?.text).toBe(texts[0]);
    await third.stop();
  });
});

describe("a change of the model that is given up", () => {
  it("leaves the old vectors in use, and nothing of the copies", async () => {
    const dataDir = newDataDir();
    const env = { DATA_DIR: dataDir, MODELS_DIR: otherModelsDir() };
    const server = await startServer({ dataDir, env });
    const caller = await signUp(server.url);
    for (const text of prose(900)) await caller.store({ text, namespace: "a" });
    const reembedding = admin(env, "reembed", OTHER_MODEL);
    await vi.waitFor(
      async () => expect((await admin(env, "reembed", "--status")).stdout).toMatch(/building .* entries/),
      { timeout: 20_000 },
    );
    expect((await admin(env, "reembed", "--abandon")).code).toBe(0);
    expect((await reembedding).code).toBe(1);
    const [best] = resultsOf(await caller.recall(prose(1)[0] as string, "a"));
    expect(best).toMatchObject({ text: prose(1)[0], score: expect.closeTo(1, 3) });
    expect((await admin(env, "reembed", "--status")).stdout).toContain("holds vectors of bundled");
    expect(await server.stop()).toBe(0);
    const verified = await admin(env, "verify");
    expect(verified.stdout).toContain("900 memories");
    expect(verified.code, verified.stderr).toBe(0);
  });
});

/** Changes the model's revision, as an upgrade with another bundled model does. */
async function forgetRevision(dataDir: string): Promise<void> {
  const root = open({ path: join(dataDir, "recalld.mdb") });
  const meta = root.openDB<Record<string, unknown>, string>("meta", { encoding: "json" });
  await meta.put("model", { ...meta.get("model"), revision: "0".repeat(64) });
  await root.close();
}

const mongo = await openTestMongo();
const skip = "reason" in mongo;
describe.skipIf(skip)(`on three replicas${skip ? ` (skipped: ${mongo.reason})` : ""}`, () => {
  it("fails no call and mixes no models", async () => {
    const env = { MONGODB_URI: "uri" in mongo ? mongo.uri : "" };
    const figures = await changeModelUnderLoad({
      start: (more) => startServer({ env: { ...env, ...more } }),
      replicas: 3,
      env,
      memories: 300,
      seed: 2,
    });
    expect(figures.recalls).toBeGreaterThan(300);
    if ("stop" in mongo) await mongo.stop();
  });
});
