import { randomBytes } from "node:crypto";
import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Caller, signUp } from "../support/caller.js";
import { protocolsOf } from "../support/protocols.js";
import { growthDuring, scrape } from "../support/scrape.js";
import { runUntilExit, startServer, type TestServer } from "../support/server.js";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Word that occurs only in stored texts and queries. */
const SECRET = `zanzibar-${randomBytes(6).toString("hex")}`;
const CALLS = "rpc_server_call_duration_seconds_count";

let server: TestServer;
let caller: Caller;

beforeAll(async () => {
  server = await startServer({ env: { METRICS_PORT: "0", FREE_CALLS: "60" } });
  caller = await signUp(server.url);
});
afterAll(() => server.stop());

const readMetrics = () => scrape(server.metricsUrl);
const growth = (work: () => Promise<unknown>) => growthDuring(server.metricsUrl, work);

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
    expect(bytes).toBeLessThan((await readMetrics()).text.length / 4);
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
    await readMetrics();
    expect(server.output().slice(lines)).toBe("");
  });

  it("takes many scrapes at once", async () => {
    const all = await Promise.all(Array.from({ length: 30 }, readMetrics));
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
  const protocols = [
    { name: "plain paths", protocol: "json", system: "connectrpc" },
    { name: "Connect JSON", protocol: "connect", system: "connectrpc" },
    { name: "Connect binary", protocol: "connect", system: "connectrpc" },
    { name: "gRPC", protocol: "grpc", system: "grpc" },
    { name: "gRPC-Web", protocol: "grpc-web", system: "grpc" },
  ];

  it.each(protocols)(
    "over $name are counted by method, code and protocol",
    async ({ name, protocol, system }) => {
      const over = protocolsOf(server.url).find((each) => each.name === name);
      const options = { key: caller.key };
      const grown = await growth(async () => {
        await over?.call("Store", { text: `${SECRET} ${name}`, namespace: SECRET }, options);
        await over?.call("Recall", { query: SECRET, namespace: SECRET }, options);
        await over?.call("Recall", { query: " ", namespace: SECRET }, options);
        await over?.call("Recall", { query: SECRET, namespace: SECRET }, { key: "rcl_nobody" });
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
    // Node's own series change with its garbage collections and open handles.
    const seriesOfOurs = async () =>
      (await readMetrics()).samples.filter(({ name }) => !/^(nodejs|process)_/.test(name)).length;
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
    // The rest of the body follows later.
    call.write('{"text":');
    await vi.waitFor(async () =>
      expect((await readMetrics()).sum("recalld_calls_in_flight", method)).toBe(1),
    );
    call.end('"x","namespace":"n"}');
    await answered;
    await vi.waitFor(async () =>
      expect((await readMetrics()).sum("recalld_calls_in_flight", method)).toBe(0),
    );
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
    await vi.waitFor(async () => expect((await readMetrics()).sum("recalld_calls_in_flight")).toBe(0));
  });
});
