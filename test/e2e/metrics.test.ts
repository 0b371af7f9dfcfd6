import { randomBytes } from "node:crypto";
import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Caller, signUp } from "../support/caller.js";
import { doorsOf } from "../support/doors.js";
import { type Scrape, scrape } from "../support/scrape.js";
import { runUntilExit, startServer, type TestServer } from "../support/server.js";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Nowhere but in what is stored and asked. */
const SECRET = `zanzibar-${randomBytes(6).toString("hex")}`;
const FREE_CALLS = 60;
const CALLS = "rpc_server_call_duration_seconds_count";

let server: TestServer;
let caller: Caller;

beforeAll(async () => {
  server = await startServer({ env: { METRICS_PORT: "0", FREE_CALLS: String(FREE_CALLS) } });
  caller = await signUp(server.url);
});
afterAll(() => server.stop());

const look = () => scrape(server.metricsUrl);

/** How much a sum has grown through some work. */
async function growth(work: () => Promise<unknown>) {
  const before = await look();
  await work();
  const after = await look();
  return (...of: Parameters<Scrape["sum"]>) => after.sum(...of) - before.sum(...of);
}

describe("/metrics", () => {
  it("is served on a port of its own, in Prometheus' text format", async () => {
    const response = await fetch(server.metricsUrl);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(new URL(server.metricsUrl).port).not.toBe(String(server.port));
    expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
  });

  it("is compressed for those who take it", async () => {
    const { headers, bytes } = await new Promise<{ headers: NodeJS.Dict<unknown>; bytes: number }>(
      (resolve, reject) => {
        const call = httpRequest(
          server.metricsUrl,
          { headers: { "accept-encoding": "gzip" } },
          (response) => {
            let bytes = 0;
            response.on("data", (chunk) => (bytes += chunk.length));
            response.on("end", () => resolve({ headers: response.headers, bytes }));
          },
        );
        call.on("error", reject).end();
      },
    );
    expect(headers).toMatchObject({ "content-encoding": "gzip", vary: "accept-encoding" });
    expect(bytes).toBeLessThan((await look()).text.length / 4);
  });

  it("answers HEAD without a body, and no other method or path", async () => {
    const head = await fetch(server.metricsUrl, { method: "HEAD" });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe("");
    const post = await fetch(server.metricsUrl, { method: "POST", body: "x" });
    expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect(await post.json()).toMatchObject({ code: "unimplemented" });
    const other = await fetch(new URL("/store", server.metricsUrl));
    expect([other.status, await other.json()]).toEqual([404, expect.objectContaining({ code: "not_found" })]);
  });

  it("is not in the log", async () => {
    const lines = server.output().length;
    await look();
    expect(server.output().slice(lines)).toBe("");
  });

  it("takes many scrapes at once", async () => {
    const all = await Promise.all(Array.from({ length: 30 }, look));
    for (const { samples } of all) expect(samples.length).toBeGreaterThan(500);
  });

  it("is not there without METRICS_PORT, and its port must be free", async () => {
    const { port } = new URL(server.metricsUrl);
    const { code, output } = await runUntilExit({
      METRICS_PORT: port,
      PORT: "0",
      DATA_DIR: `${server.dataDir}/x`,
    });
    expect([code, output]).toEqual([1, `recalld: METRICS_PORT ${port} on 127.0.0.1 is in use\n`]);
    const bare = await startServer();
    expect(bare.metricsUrl).toBe("");
    await bare.stop();
  });
});

describe("calls", () => {
  const methodOf = { Store: "recalld.v1.MemoryService/Store", Recall: "recalld.v1.MemoryService/Recall" };
  const doors = [
    { name: "plain paths", protocol: "json", system: "connectrpc" },
    { name: "Connect JSON", protocol: "connect", system: "connectrpc" },
    { name: "Connect binary", protocol: "connect", system: "connectrpc" },
    { name: "gRPC", protocol: "grpc", system: "grpc" },
    { name: "gRPC-Web", protocol: "grpc-web", system: "grpc" },
  ];

  it.each(doors)(
    "over $name are counted by method, code and protocol",
    async ({ name, protocol, system }) => {
      const door = doorsOf(server.url).find((each) => each.name === name);
      const options = { key: caller.key };
      const grown = await growth(async () => {
        await door?.call("Store", { text: `${SECRET} ${name}`, namespace: SECRET }, options);
        await door?.call("Recall", { query: SECRET, namespace: SECRET }, options);
        await door?.call("Recall", { query: " ", namespace: SECRET }, options);
        await door?.call("Recall", { query: SECRET, namespace: SECRET }, { key: "rcl_nobody" });
      });
      const labels = { protocol, rpc_system_name: system };
      const recall = { ...labels, rpc_method: methodOf.Recall };
      expect(grown(CALLS, { ...labels, rpc_method: methodOf.Store, rpc_response_status_code: "ok" })).toBe(1);
      expect(grown(CALLS, { ...recall, rpc_response_status_code: "ok" })).toBe(1);
      expect(grown(CALLS, { ...recall, rpc_response_status_code: "invalid_argument" })).toBe(1);
      expect(grown(CALLS, { ...recall, rpc_response_status_code: "unauthenticated" })).toBe(1);
      expect(grown(CALLS)).toBe(4);
      expect(grown("rpc_server_call_duration_seconds_sum", recall)).toBeGreaterThan(0.0005);
    },
  );

  it("on the paths of memories and namespaces count as their RPC's", async () => {
    const grown = await growth(async () => {
      await caller.get(SECRET, "mem_00000000000000000000000000");
      await caller.drop(`${SECRET} 2`);
    });
    const labels = { protocol: "json", rpc_method: "recalld.v1.MemoryService/GetMemory" };
    expect(grown(CALLS, { ...labels, rpc_response_status_code: "not_found" })).toBe(1);
    expect(grown(CALLS)).toBe(2);
  });

  it("that are none make no series", async () => {
    // Node's come and go, with the kinds of its garbage collections and of its open handles.
    const seriesOfOurs = async () =>
      (await look()).samples.filter(({ name }) => !/^(nodejs|process)_/.test(name)).length;
    const before = await seriesOfOurs();
    for (const path of [`/${SECRET}`, "/recalld.v1.MemoryService/Nothing", "/%", "/store/x"]) {
      for (const method of ["GET", "POST", "PROPFIND"]) await fetch(server.url + path, { method });
    }
    expect(await seriesOfOurs()).toBe(before);
  });

  it("are counted while they run", async () => {
    const method = { rpc_method: "recalld.v1.MemoryService/Store" };
    const headers = { authorization: `Bearer ${caller.key}`, "content-type": "application/json" };
    const call = httpRequest(`${server.url}/store`, { method: "POST", headers });
    const answered = new Promise((resolve) => call.on("response", (response) => resolve(response.resume())));
    // The rest of the body comes later.
    call.write('{"text":');
    await vi.waitFor(async () => expect((await look()).sum("recalld_calls_in_flight", method)).toBe(1));
    call.end('"x","namespace":"n"}');
    await answered;
    await vi.waitFor(async () => expect((await look()).sum("recalld_calls_in_flight", method)).toBe(0));
  });

  it("that their callers leave do not stay in flight", async () => {
    const body = JSON.stringify({ query: SECRET, namespace: SECRET });
    const headers = { authorization: `Bearer ${caller.key}x`, "content-type": "application/json" };
    for (let i = 0; i < 20; i++) {
      const leave = new AbortController();
      const call = fetch(`${server.url}/recall`, { method: "POST", headers, body, signal: leave.signal });
      setTimeout(() => leave.abort(), i / 2);
      await call.catch(() => {});
    }
    await vi.waitFor(async () => expect((await look()).sum("recalld_calls_in_flight")).toBe(0));
  });
});

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

  it("of the whole process", async () => {
    const { sum, samples } = await look();
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
    const { sum } = await look();
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
    // It is a fault of nobody's.
    expect(grown("recalld_step_duration_seconds_count", { outcome: "error" })).toBe(0);
  });

  it("holds no text, no namespace, no key and no account", async () => {
    const { text } = await look();
    expect(text).toContain("recalld.v1.MemoryService/Recall");
    for (const secret of [SECRET, "zanzibar", "measured", caller.key.slice(4, 20), caller.id]) {
      expect(text).not.toContain(secret);
    }
  });
});

describe("accounts in metrics", () => {
  const NAME = "recalld_account_calls_total";

  it("are not there unless they are asked for", async () => {
    await caller.recall("who?", "n");
    const { text } = await look();
    expect(text).not.toContain("acc_");
  });

  it("are as many as were asked for, and the others are put together", async () => {
    const own = await startServer({ env: { METRICS_PORT: "0", METRICS_ACCOUNTS_MAX: "2" } });
    const callers = [
      await signUp(own.url),
      await signUp(own.url),
      await signUp(own.url),
      await signUp(own.url),
    ];
    for (const each of callers) {
      await each.recall("who?", "n");
      await each.recall("", "n");
    }
    const found = await scrape(own.metricsUrl);
    const counted = callers.map(({ id }) => found.sum(NAME, { account: id, code: "ok" }));
    expect(counted).toEqual([1, 1, 0, 0]);
    expect(found.sum(NAME, { account: "other", code: "ok" })).toBe(2);
    expect(found.sum(NAME, { account: "other", code: "invalid_argument" })).toBe(2);
    expect(await own.stop()).toBe(0);
  });
});
