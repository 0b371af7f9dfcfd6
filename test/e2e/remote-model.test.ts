import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { changeModelUnderLoad } from "../faults/reembed.js";
import { recalld } from "../support/admin.js";
import { resultsOf, signUp } from "../support/caller.js";
import { type FakeEmbeddingServer, openEmbeddingServer } from "../support/embedding-server.js";
import { prose } from "../support/prose.js";
import { scrape } from "../support/scrape.js";
import { newDataDir, runUntilExit, startServer } from "../support/server.js";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const KEY = "sk-secret-1234";
/** Time for several texts of a server that takes as long for them as one with a real model. */
const BATCH_MS = 250;
/** More load would keep the cores from the other tests, and from the change itself. */
const PAUSE_MS = 50;

let embedding: FakeEmbeddingServer;
let env: Record<string, string>;
beforeEach(async () => {
  embedding = await openEmbeddingServer();
  env = { MODEL: "openai:test", EMBED_URL: embedding.url, EMBED_API_KEY: KEY };
});
afterEach(() => embedding.stop());

describe("a service whose model is on another server", () => {
  it("stores and recalls, says when that server is away, and loses nothing", async () => {
    const server = await startServer({ env: { ...env, METRICS_PORT: "0" } });
    await vi.waitFor(() => expect(server.output()).toContain("sign up"));
    expect(server.output()).toContain("model     openai:test, 64 dimensions, revision unknown\n");
    expect(server.output()).toContain("reads     pooling model\n");
    const caller = await signUp(server.url);
    const text = "Ada keeps the spare key under the blue flower pot.";
    const stored = await caller.store({ text, namespace: "n" });
    expect(stored).toMatchObject({ code: "ok", body: { tokens: 12 } });
    await caller.store({ text: "The budget meeting is on Tuesday.", namespace: "n" });
    const [best] = resultsOf(await caller.recall("the key under the flower pot", "n"));
    expect(best?.text).toBe(text);
    const used = await caller.used();

    await embedding.stop();
    const refused = await caller.store({ text: "Nobody reads this.", namespace: "n" });
    expect(refused).toMatchObject({
      code: "unavailable",
      message: "the embedding server is away",
      status: 503,
    });
    expect(Number(refused.header.get("retry-after"))).toBeGreaterThan(0);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);
    expect(await caller.recall("another query", "n")).toMatchObject({ code: "unavailable", status: 503 });
    // What needs no model goes on, and what failed costs nothing.
    expect(await caller.get("n", String(stored.body.id))).toMatchObject({ code: "ok" });
    expect(await caller.used()).toBe(used);
    const away = await scrape(server.metricsUrl);
    expect(away.sum("recalld_embed_server_available")).toBe(0);
    expect(away.sum("recalld_ready")).toBe(0);
    expect(away.sum("recalld_embed_server_seconds_count", { outcome: "ok" })).toBe(4);
    expect(away.sum("recalld_embed_server_seconds_count", { outcome: "lost" })).toBeGreaterThan(4);
    expect(away.sum("recalld_embed_server_tokens_total")).toBeGreaterThan(20);

    await embedding.start();
    await vi.waitFor(async () => expect((await fetch(`${server.url}/readyz`)).status).toBe(200), {
      timeout: 15_000,
    });
    expect(await caller.store({ text: "Grace plays chess.", namespace: "n" })).toMatchObject({ code: "ok" });
    expect(resultsOf(await caller.recall("the spare key", "n"))[0]?.text).toBe(text);
    expect(await server.stop()).toBe(0);
    expect(server.output()).toContain("the embedding server is away");
    expect(server.output()).toContain("the embedding server is back");
    for (const secret of [KEY, "Nobody reads", "flower pot"]) expect(server.output()).not.toContain(secret);
  });

  it("keeps the longest text in the most windows, by a model with the largest vectors", async () => {
    const server = await startServer({ env: { ...env, EMBED_DIMENSIONS: "4096", EMBED_MAX_TOKENS: "32" } });
    const caller = await signUp(server.url);
    const facts = Array.from({ length: 4_000 }, (_, i) => `${i} 点检查牙齿。`).join("");
    const text = new TextDecoder().decode(Buffer.from(facts).subarray(0, 65_535)).replace("\ufffd", "");
    expect(await caller.store({ text, namespace: "n" })).toMatchObject({ code: "ok" });
    const [best] = resultsOf(await caller.recall("2000 点检查牙齿", "n"));
    expect(best?.text).toBe(text);
    expect(await server.stop()).toBe(0);
  });

  it("keeps to the model, its dimensions and its prefix at the next start", async () => {
    const dataDir = newDataDir();
    await (await startServer({ dataDir, env: { ...env, EMBED_TEXT_PREFIX: "passage: " } })).stop();
    const start = (more: Record<string, string>) =>
      runUntilExit({ DATA_DIR: dataDir, PORT: "0", ...env, ...more });
    const other = await start({ EMBED_DIMENSIONS: "32" });
    expect(other).toMatchObject({ code: 1 });
    expect(other.output).toContain(
      'They differ in dimensions, passage prefix; start with EMBED_DIMENSIONS=64 and EMBED_TEXT_PREFIX="passage: "',
    );
    expect((await start({ MODEL: "openai:else" })).output).toMatch(
      /pinned to openai:test .* but MODEL is openai:else/,
    );
  });

  it("does not start without that server, and says why in a line", async () => {
    const start = (more: Record<string, string>) =>
      runUntilExit({ DATA_DIR: newDataDir(), PORT: "0", LOG_LEVEL: "error", ...env, ...more });
    embedding.disturb = (_, response) => {
      response
        .writeHead(401)
        .end(JSON.stringify({ error: { message: `Incorrect API key provided: ${KEY}` } }));
      return true;
    };
    const at = `recalld: EMBED_URL: the embedding server at ${embedding.url}/embeddings`;
    expect(await start({})).toEqual({
      code: 1,
      output: `${at} gives no vectors of test: it answers with HTTP 401; EMBED_API_KEY may be wrong\n`,
    });
    await embedding.stop();
    expect(await start({})).toEqual({
      code: 1,
      output: `${at} does not answer: the connection failed (ECONNREFUSED)\n`,
    });
    await embedding.start();
    expect(await start({ EMBED_URL: "", MODEL_POOLING: "mean" })).toEqual({
      code: 1,
      output:
        "recalld: MODEL is openai:test, which needs EMBED_URL\n" +
        "recalld: MODEL_POOLING is for models that are loaded; see EMBED_QUERY_PREFIX and EMBED_TEXT_PREFIX\n",
    });
  });
});

describe("recalld model", () => {
  it("checks a model on a server, and measures it beside the bundled one", async () => {
    const checked = await recalld(env, "model", "check");
    expect(checked, checked.stderr).toMatchObject({ code: 0 });
    expect(checked.stdout).toContain("openai:test, 64 dimensions\n  pooling model\n");
    expect(checked.stdout).toContain("the same text gives the same vector\n");
    const file = join(newDataDir(), "export.jsonl");
    const lines = prose(40).map((text, i) => JSON.stringify({ id: `m${i}`, text }));
    writeFileSync(file, lines.join("\n"));
    const tried = await recalld({ ...env, MODEL: "bundled" }, "model", "try", file, "openai:test");
    expect(tried, tried.stderr).toMatchObject({ code: 0 });
    expect(tried.stdout).toMatch(
      /^40 memories and \d+ questions of .*\nIt has no questions, so the last words/,
    );
    expect(tried.stdout).toMatch(/\n +bundled +openai:test\nrecall@5 +\d\.\d{3} +\d\.\d{3}\n/);
    expect(await recalld(env, "model", "try", "/nowhere")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^recalld: \/nowhere cannot be read: ENOENT/),
    });
  });
});

describe("changing between a model that is loaded and one on a server, under load", () => {
  it.each([
    ["there", { id: "openai:test", from: "bundled", memories: 600 }],
    ["back", { id: "bundled", from: "openai:test", memories: 1_500 }],
  ])("fails no call, mixes no models and goes on after kill -9, %s", async (_, { id, from, memories }) => {
    // So fast a server would move so few memories before the command shows any progress.
    embedding.disturb = async ({ input }) => {
      if (input.length > 1) await sleep(BATCH_MS);
      return false;
    };
    const dataDir = newDataDir();
    const figures = await changeModelUnderLoad({
      start: (more) => startServer({ dataDir, env: more }),
      replicas: 1,
      env: { DATA_DIR: dataDir },
      model: { id, env: { ...env, MODEL: from } },
      memories,
      killAt: 0.05,
      pauseMs: PAUSE_MS,
      seed: 1,
    });
    expect(figures.kills).toBe(1);
    expect(figures.recalls).toBeGreaterThan(50);
  });
});
