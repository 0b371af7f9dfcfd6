import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { open } from "lmdb";
import { describe, expect, it, vi } from "vitest";
import type { ModelsRecord, Pinned } from "../../src/memory/ports/model-version.js";
import { changeModelUnderLoad } from "../faults/reembed.js";
import { admin } from "../support/admin.js";
import { resultsOf, signUp } from "../support/caller.js";
import { openTestMongo } from "../support/mongo/open.js";
import { OTHER_MODEL, otherModelsDir } from "../support/other-model.js";
import { prose } from "../support/prose.js";
import { newDataDir, runUntilExit, startServer } from "../support/server.js";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 });

/** Most memories of one call. */
const BATCH = 256;
/** More load would keep the cores from the other tests, and from the change itself. */
const PAUSE_MS = 20;

describe("changing the model under load", () => {
  it("fails no call, mixes no models and goes on after kill -9, on local", async () => {
    const dataDir = newDataDir();
    const figures = await changeModelUnderLoad({
      start: (env) => startServer({ dataDir, env }),
      replicas: 1,
      env: { DATA_DIR: dataDir },
      memories: 1500,
      killAt: 0.3,
      pauseMs: PAUSE_MS,
      seed: 1,
    });
    expect(figures.kills).toBe(1);
    expect(figures.recalls).toBeGreaterThan(300);
  });

  it("fails no call after an upgrade that brings another bundled model, while the earlier one is kept", async () => {
    const dataDir = newDataDir();
    const figures = await changeModelUnderLoad({
      start: (env, main) => startServer({ dataDir, env, ...(main !== undefined && { main }) }),
      replicas: 1,
      env: { DATA_DIR: dataDir },
      memories: 500,
      upgrades: true,
      clients: 16,
      killAt: 0.3,
      pauseMs: PAUSE_MS,
      seed: 3,
    });
    expect(figures.kills).toBe(1);
    expect(figures.recalls).toBeGreaterThan(300);
  });
});

describe("a model that is not there any more", () => {
  it("is changed: its namespaces are unavailable until they have moved", async () => {
    const dataDir = newDataDir();
    const first = await startServer({ dataDir });
    const caller = await signUp(first.url);
    const texts = prose(40);
    for (const [i, text] of texts.entries()) await caller.store({ text, namespace: i % 2 ? "odd" : "even" });
    await first.stop();
    await forgetRevision(dataDir);
    const refused = await runUntilExit({ DATA_DIR: dataDir, PORT: "0" });
    expect(refused.output).toMatch(
      /They differ in revision; start with the model of .* in MODELS_DIR\/bundled, .* recalld-admin reembed MODEL/,
    );

    const reembedding = admin({ DATA_DIR: dataDir }, "reembed", "bundled");
    // The model is pinned before the service starts. Each command takes the folder for a moment, and one that asks
    // too often would keep the other from it on a busy machine.
    const status = async () => (await admin({ DATA_DIR: dataDir }, "reembed", "--status")).stdout;
    await vi.waitFor(
      async () => {
        await sleep(2000);
        expect(await status()).toContain("0 of 2 namespaces have vectors of bundled");
      },
      { timeout: 30_000 },
    );
    const second = await startServer({ dataDir });
    for (const [i, text] of texts.entries()) {
      const recall = () => caller.at(second.url).recall(text, i % 2 ? "odd" : "even");
      const [best] = await vi.waitFor(async () => resultsOf(await recall()), { timeout: 30_000 });
      expect(best).toMatchObject({ text, score: expect.closeTo(1, 3) });
    }
    expect((await reembedding).code).toBe(0);
    expect(await second.stop()).toBe(0);
    const third = await startServer({ dataDir });
    expect(resultsOf(await caller.at(third.url).recall(texts[0] as string, "even"))[0]?.text).toBe(texts[0]);
    await third.stop();
  });
});

describe("a change of the model that is given up in the middle", () => {
  it("moves back what has moved, and leaves nothing of the copies", async () => {
    const dataDir = newDataDir();
    const env = { DATA_DIR: dataDir, MODELS_DIR: otherModelsDir(), FREE_CALLS: "100000" };
    const server = await startServer({ dataDir, env });
    const caller = await signUp(server.url);
    const texts = prose(2700);
    const sizes = [20, 20, 2660];
    for (const [i, size] of sizes.entries()) {
      const memories = texts.splice(0, size).map((text) => ({ text }));
      while (memories.length > 0) {
        const body = { namespace: `n${i}`, memories: memories.splice(0, BATCH) };
        expect((await caller.call("POST /store/batch", { body })).code).toBe("ok");
      }
    }
    const reembedding = admin(env, "reembed", OTHER_MODEL);
    const status = async () => (await admin(env, "reembed", "--status")).stdout;
    await vi.waitFor(async () => expect(await status()).toMatch(/ [1-9][\d,]* of 2,700 entries are made/), {
      timeout: 20_000,
    });
    const abandoned = await admin(env, "reembed", "--abandon");
    expect(abandoned, abandoned.stderr).toMatchObject({ code: 0 });
    expect(await reembedding).toMatchObject({ code: 1, stderr: expect.stringContaining("it was not done") });
    for (const [namespace, text] of [
      ["n0", prose(1)[0]],
      ["n2", prose(2700)[2699]],
    ] as [string, string][]) {
      const [best] = resultsOf(await caller.recall(text, namespace));
      expect(best).toMatchObject({ text, score: expect.closeTo(1, 3) });
    }
    const after = await status();
    expect(after).toContain("the database is pinned to bundled ");
    expect(after).toMatch(/^3 namespaces with [\d,]+ entries have vectors of bundled /m);
    expect(after).toContain("nothing is left to move");
    expect((await admin(env, "reembed", "--abandon")).stderr).toContain("the model is not being changed");
    expect(await server.stop()).toBe(0);
    const verified = await admin(env, "verify");
    // The logs that the two small namespaces have left, there and back, are erased by a sweep when that is a minute ago.
    expect(verified.stdout).toMatch(/ 2,7[02468]0 memories,.*\nall is well\n/s);
    expect(verified.code, verified.stderr).toBe(0);
  });
});

/** Changes the model's revision, as an upgrade with another bundled model does. */
async function forgetRevision(dataDir: string): Promise<void> {
  const root = open({ path: join(dataDir, "recalld.mdb") });
  const meta = root.openDB<ModelsRecord, string>("meta", { encoding: "json" });
  const record = meta.get("models") as ModelsRecord;
  const [pinned] = record.models as [Pinned];
  const models = [{ ...pinned, model: { ...pinned.model, revision: "0".repeat(64) } }];
  await meta.put("models", { ...record, models });
  await root.close();
}

const mongo = await openTestMongo();
const skip = "reason" in mongo;
if (!skip) await mongo.stop();
describe.skipIf(skip)(`on replicas${skip ? ` (skipped: ${mongo.reason})` : ""}`, () => {
  it.each([
    { change: "another model", replicas: 3, memories: 300, kills: 0, seed: 2 },
    { change: "an upgrade that brings another bundled one", replicas: 2, memories: 1200, kills: 1, seed: 4 },
  ])("fails no call and mixes no models, by $change", async ({ replicas, memories, kills, seed }) => {
    const database = await openTestMongo();
    if ("reason" in database) throw new Error(database.reason);
    const env = { MONGODB_URI: database.uri };
    const figures = await changeModelUnderLoad({
      start: (more, main) => startServer({ env: { ...env, ...more }, ...(main !== undefined && { main }) }),
      // The command shows its progress so rarely on a busy machine that a later kill would find nothing left to move.
      ...(kills > 0 && { upgrades: true, clients: 16, killAt: 0.1 }),
      replicas,
      env,
      memories,
      seed,
      pauseMs: PAUSE_MS,
    });
    expect(figures.kills).toBe(kills);
    expect(figures.recalls).toBeGreaterThan(300);
    await database.stop();
  });
});
