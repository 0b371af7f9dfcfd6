import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../gen/health/v1/health_pb.js";
import { Readiness } from "../../src/server/listen/readiness.js";
import { openLocal } from "../../src/storage/local/open.js";
import { aMemory, aScope } from "../contract/samples.js";
import { signUp } from "../support/caller.js";
import { SLACK_MS, servers, start, statusOf, timed } from "../support/draining.js";
import { newDataDir, startServer } from "../support/server.js";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
const NOTICE_MS = 3_000;

describe("the notice", () => {
  it("says at once that the server is not ready, while it lives and serves", async () => {
    const server = await start({ DRAIN_NOTICE_MS: String(NOTICE_MS) });
    const caller = await signUp(server.url);
    const stopped = timed(server.stop());
    await expect.poll(() => statusOf(server, "/readyz"), { timeout: NOTICE_MS - 500 }).toBe(503);
    expect(await statusOf(server, "/livez")).toBe(200);
    const stored = await caller.store({ text: "Rain in Lisbon.", namespace: "n" });
    expect(stored.code).toBe("ok");
    const { value, ms } = await stopped;
    expect(value).toBe(0);
    expect(ms).toBeGreaterThan(NOTICE_MS - 50);
    expect(ms).toBeLessThan(NOTICE_MS + SLACK_MS);
    expect(server.output()).toMatch(/"phase":"notice".*"phase":"calls".*"phase":"flush"/s);
  });

  it("tells those that watch by gRPC", async () => {
    const server = await start({ DRAIN_NOTICE_MS: String(NOTICE_MS) });
    const client = createClient(Health, createGrpcTransport({ baseUrl: server.url }));
    const seen: { status: Status; ms: number }[] = [];
    const watching = (async () => {
      for await (const { status } of client.watch({})) seen.push({ status, ms: performance.now() });
    })();
    await expect.poll(() => seen.length).toBe(1);
    const begunMs = performance.now();
    expect(await server.stop()).toBe(0);
    await watching;
    expect(seen.map(({ status }) => status)).toEqual([Status.SERVING, Status.NOT_SERVING]);
    expect((seen[1]?.ms ?? 0) - begunMs).toBeLessThan(NOTICE_MS - 500);
  });

  it("asks HTTP/1 clients not to come again on their connection", async () => {
    const server = await start({ DRAIN_NOTICE_MS: String(NOTICE_MS) });
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const connectionOf = async (path: string, body?: string) => {
      const headers = { "content-type": "application/json" };
      const sent = request(server.url + path, {
        agent,
        method: body === undefined ? "GET" : "POST",
        headers,
      });
      sent.end(body);
      const [answer] = (await once(sent, "response")) as [IncomingMessage];
      answer.resume();
      await once(answer, "end");
      return answer.headers.connection;
    };
    expect(await connectionOf("/livez")).toBe("keep-alive");
    const stopped = server.stop();
    await expect.poll(() => statusOf(server, "/readyz"), { timeout: NOTICE_MS - 500 }).toBe(503);
    expect(await connectionOf("/livez")).toBe("close");
    expect(await connectionOf("/signup", "{}")).toBe("close");
    expect(await stopped).toBe(0);
  });

  it("is left out where nobody is told: the server was not ready", async () => {
    const readiness = new Readiness();
    const told: boolean[] = [];
    readiness.on("change", () => told.push(readiness.now()));
    readiness.start();
    readiness.withdraw();
    readiness.setAway("database", true);
    // This happens when the database comes back meanwhile.
    readiness.setAway("database", false);
    expect([readiness.now(), readiness.withdrawn]).toEqual([false, true]);
    expect(told).toEqual([true, false, false, false]);
  });

  it("is given only by who has started and whose database is there, in whichever order", async () => {
    const readiness = new Readiness();
    readiness.setAway("database", true);
    readiness.start();
    expect(readiness.now()).toBe(false);
    readiness.setAway("database", false);
    expect(readiness.now()).toBe(true);
    const other = new Readiness();
    other.setAway("database", true);
    other.setAway("database", false);
    expect(other.now()).toBe(false);
  });
});

describe("a start", () => {
  it("that still builds a large index ends at SIGTERM, at once and without a notice", async () => {
    const dataDir = newDataDir();
    const { log, names, close } = await openLocal({ dataDir });
    const scope = aScope();
    const logId = await names.create(scope);
    // The vectors have the bundled model's length, and their number needs a graph, which takes seconds to
    // build.
    const entries = Array.from({ length: 30_000 }, (_, i) => {
      const vectors = Float32Array.from({ length: 384 }, (_, at) => Math.sin(i + at ** 2));
      return aMemory({ vectors });
    });
    for (let from = 0; from < entries.length; from += 1000) {
      await log.append({ logId, from: from + 1, entries: entries.slice(from, from + 1000) });
    }
    await names.touch(scope, Date.now());
    await close();
    const server = await startServer({ dataDir, until: "listening", env: { DRAIN_NOTICE_MS: "20000" } });
    servers.push(server);
    expect(await statusOf(server, "/readyz")).toBe(503);
    const begunMs = performance.now();
    expect(await server.stop()).toBe(0);
    expect(performance.now() - begunMs).toBeLessThan(SLACK_MS);
    expect(server.output()).not.toMatch(/notice|is ready/);
  });
});
