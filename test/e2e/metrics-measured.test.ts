import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Caller, signUp } from "../support/caller.js";
import { growthDuring, scrape } from "../support/scrape.js";
import { startServer, type TestServer } from "../support/server.js";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Word that occurs only in stored texts and queries. */
const SECRET = `zanzibar-${randomBytes(6).toString("hex")}`;
/** More than all tests use before the one that uses them up. */
const FREE_CALLS = 150;

let server: TestServer;
let caller: Caller;

beforeAll(async () => {
  server = await startServer({ env: { METRICS_PORT: "0", FREE_CALLS: String(FREE_CALLS) } });
  caller = await signUp(server.url);
  await caller.store({ text: SECRET, namespace: SECRET });
});
afterAll(() => server.stop());

const readMetrics = () => scrape(server.metricsUrl);
const growth = (work: () => Promise<unknown>) => growthDuring(server.metricsUrl, work);

describe("what is measured", () => {
  it("of a store and a recall: charge, steps, tokens, the index", async () => {
    const grown = await growth(async () => {
      await caller.store({ text: "one two three", namespace: "measured" });
      await caller.recall("one two", "measured");
    });
    const steps = (step: string) => grown("recalld_step_duration_seconds_count", { step, outcome: "ok" });
    expect(
      Object.fromEntries(["charge", "append", "write", "search", "fetch"].map((step) => [step, steps(step)])),
    ).toEqual({ charge: 2, append: 1, write: 1, search: 1, fetch: 1 });
    expect(steps("catch_up")).toBeGreaterThan(0);
    expect(grown("recalld_step_duration_seconds_count", { outcome: "error" })).toBe(0);
    expect(grown("recalld_charges_total", { outcome: "charged" })).toBe(2);
    expect(grown("recalld_tokens_total", { call: "store" })).toBe(3);
    expect(grown("recalld_tokens_total", { call: "recall" })).toBe(2);
    for (const field of ["query", "text"]) {
      expect(grown("recalld_embed_run_seconds_count", { field })).toBe(1);
      expect(grown("recalld_embed_run_seconds_sum", { field })).toBeGreaterThan(0.0002);
      expect(grown("recalld_embed_wait_seconds_count", { field })).toBe(1);
    }
    expect(grown("recalld_index_memories")).toBe(1);
    expect(grown("recalld_index_namespaces")).toBe(1);
  });

  it("of a query that was asked before", async () => {
    const grown = await growth(async () => {
      await caller.recall("asked twice", "measured");
      await caller.recall("asked twice", "measured");
    });
    expect(grown("recalld_cached_queries_total")).toBe(1);
    expect(grown("recalld_embed_run_seconds_count", { field: "query" })).toBe(1);
  });

  it("of a query that comes alone and is embedded on the main thread", { timeout: 60_000 }, async () => {
    // On a busy machine the model may seem too slow for some seconds.
    for (let i = 0, onMain = 0; onMain === 0; i++) {
      expect(i).toBeLessThan(80);
      if (i > 0) await new Promise((done) => setTimeout(done, 500));
      const grown = await growth(() => caller.recall(`alone ${i}`, "measured"));
      onMain = grown("recalld_embed_main_thread_total", { field: "query" });
      expect(grown("recalld_embed_run_seconds_count", { field: "query" })).toBe(1);
    }
  });

  it("of the whole process", async () => {
    const { sum, samples } = await readMetrics();
    expect(sum("recalld_ready")).toBe(1);
    expect(sum("recalld_storage_available")).toBe(1);
    expect(sum("recalld_queue_limit", { queue: "embed_text" })).toBe(512);
    expect(sum("recalld_index_limit_bytes")).toBe(2_000_000_000);
    expect(sum("process_resident_memory_bytes")).toBeGreaterThan(10_000_000);
    expect(sum("nodejs_eventloop_lag_p99_seconds")).toBeGreaterThan(0);
    const model = samples.find(({ name }) => name === "recalld_model_info");
    expect(model?.labels).toMatchObject({
      model: "bundled",
      revision: expect.stringMatching(/^[\da-f]{64}$/),
    });
    expect(samples.find(({ name }) => name === "recalld_build_info")?.labels.version).toMatch(
      /^\d+\.\d+\.\d+$/,
    );
  });

  it("of what is caught up with after a restart", async () => {
    const dataDir = server.dataDir;
    await server.stop();
    server = await startServer({ dataDir, env: { METRICS_PORT: "0" } });
    caller = caller.at(server.url);
    await caller.recall("one", "measured");
    const { sum } = await readMetrics();
    expect(sum("recalld_catch_up_entries_total")).toBeGreaterThan(0);
    expect(sum("recalld_step_duration_seconds_count", { step: "restore", outcome: "ok" })).toBeGreaterThan(0);
  });

  it("of a plan that is used up", async () => {
    const grown = await growth(async () => {
      let code = "ok";
      for (let i = 0; code === "ok" && i <= FREE_CALLS; i++)
        code = (await caller.recall("x", "measured")).code;
      expect(code).toBe("resource_exhausted");
    });
    expect(grown("recalld_charges_total", { outcome: "quota_exhausted" })).toBe(1);
    // This is not the server's fault.
    expect(grown("recalld_step_duration_seconds_count", { outcome: "error" })).toBe(0);
  });

  it("holds no text, no namespace, no key and no account", async () => {
    const { text } = await readMetrics();
    expect(text).toContain("recalld.v1.MemoryService/Recall");
    for (const secret of [SECRET, "zanzibar", "measured", caller.key.slice(4, 20), caller.id]) {
      expect(text).not.toContain(secret);
    }
  });
});
