import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../gen/health/v1/health_pb.js";
import { Readiness } from "../../src/server/port/readiness.js";
import { openLocal } from "../../src/storage/local/open.js";
import { aMemory, aScope } from "../contract/samples.js";
import { expectGot, keptOf, outcomeOf } from "../faults/load.js";
import { signUp } from "../support/caller.js";
import { chanceOf } from "../support/chance.js";
import { MONGO_DATABASE } from "../support/databases.js";
import { startStandIn } from "../support/mongo/stand-in.js";
import { newDataDir, startServer, type TestServer } from "../support/server.js";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const NOTICE_MS = 3_000;
/** What a loaded machine may take for something that takes no time. */
const SLACK_MS = 8_000;
/** What the flush may take, as `src/compose.ts` has it. */
const CLOSE_TIMEOUT_MS = 30_000;

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.kill();
});
async function start(env: Record<string, string>, dataDir?: string): Promise<TestServer> {
  const server = await startServer({ env, ...(dataDir !== undefined && { dataDir }) });
  await expect.poll(() => statusOf(server, "/readyz"), { timeout: 30_000 }).toBe(200);
  servers.push(server);
  return server;
}

const statusOf = async ({ url }: TestServer, path: string) => (await fetch(url + path)).status;

async function timed<T>(work: Promise<T>): Promise<{ value: T; ms: number }> {
  const begunMs = performance.now();
  return { value: await work, ms: performance.now() - begunMs };
}

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
    let changes = 0;
    readiness.onChange(() => changes++);
    readiness.start();
    readiness.leave();
    readiness.setAway(true);
    // As when the database comes back meanwhile.
    readiness.setAway(false);
    expect([readiness.now(), readiness.leaving, changes]).toEqual([false, true, 2]);
  });

  it("is given only by who has started and whose database is there, in whichever order", async () => {
    const readiness = new Readiness();
    readiness.setAway(true);
    readiness.start();
    expect(readiness.now()).toBe(false);
    readiness.setAway(false);
    expect(readiness.now()).toBe(true);
    const other = new Readiness();
    other.setAway(true);
    other.setAway(false);
    expect(other.now()).toBe(false);
  });
});

describe("a start", () => {
  it("that still builds a large index ends at SIGTERM, at once and without a notice", async () => {
    const dataDir = newDataDir();
    const { log, recent, close } = await openLocal({ dataDir });
    const scope = aScope();
    const logId = await log.create(scope);
    // Of the bundled model's length, and enough of them for a graph, which takes seconds to build.
    const entries = Array.from({ length: 30_000 }, (_, i) => {
      const vectors = Float32Array.from({ length: 384 }, (_, at) => Math.sin(i + at ** 2));
      return aMemory({ vectors });
    });
    for (let from = 0; from < entries.length; from += 1000) {
      await log.append({ logId, from: from + 1, entries: entries.slice(from, from + 1000) });
    }
    await recent.touch(scope, Date.now());
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

describe("after the notice", () => {
  it("sends GOAWAY on HTTP/2, and finishes the calls that run", async () => {
    const server = await start({ DRAIN_NOTICE_MS: "1000" });
    const { key } = await signUp(server.url);
    const session = connectHttp2(server.url);
    session.on("error", () => {});
    onTestFinished(() => session.destroy());
    const goneAway = once(session, "goaway").then(() => performance.now());
    const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
    const call = session.request({ ":method": "POST", ":path": "/store", ...headers });
    const answered = once(call, "response");
    call.write('{"namespace":"n","text":"A call that takes its time');
    const begunMs = performance.now();
    const stopped = server.stop();
    expect((await goneAway) - begunMs).toBeGreaterThan(950);
    // The rest of the request comes on a connection that takes no other.
    call.end('."}');
    const [response] = await answered;
    expect(response[":status"]).toBe(200);
    call.resume();
    expect(await stopped).toBe(0);
  });

  it("ends calls that take longer than SHUTDOWN_TIMEOUT_MS, and keeps all it answered and counted", async () => {
    const server = await start({ SHUTDOWN_TIMEOUT_MS: "100" });
    const caller = await signUp(server.url);
    const chance = chanceOf(7);
    const texts = Array.from({ length: 60 }, (_, i) =>
      Array.from({ length: i === 0 ? 1 : 60 }, chance.text).join(". "),
    );
    const calls = texts.map(async (text) => {
      const sent = { text, namespace: "n", metadata: {} };
      return { sent, outcome: await outcomeOf(caller.store(sent)) };
    });
    await Promise.race(calls);
    const { value, ms } = await timed(server.stop());
    expect(value).toBe(0);
    expect(ms).toBeLessThan(600 + SLACK_MS);
    const ended = await Promise.all(calls);
    const kept = ended.flatMap(({ sent, outcome }) =>
      outcome !== "unanswered" && outcome.code === "ok" ? [keptOf(caller, sent, outcome)] : [],
    );
    const codes = ended.map(({ outcome }) => (outcome === "unanswered" ? outcome : outcome.code));
    expect(codes.filter((code) => code === "unavailable").length).toBeGreaterThan(0);
    expect(new Set(codes)).toEqual(new Set(["ok", "unavailable"]));
    const again = await start({}, server.dataDir);
    for (const each of kept) await expectGot(each, again.url);
    expect(await caller.at(again.url).used()).toBeLessThanOrEqual(texts.length);
    expect(await storesCounted(again.url, caller.key)).toBeGreaterThanOrEqual(kept.length);
  });
});

async function storesCounted(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/recalld.v1.AccountService/GetUsage`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: "{}",
  });
  const { days } = (await response.json()) as { days: { stores: number }[] };
  return days.reduce((sum, { stores }) => sum + stores, 0);
}

describe("without its database", () => {
  it.skipIf(MONGO_DATABASE.missing !== undefined)(
    "ends in time all the same, without a notice: it was not ready (a stand-in of its own)",
    async () => {
      const database = await startStandIn();
      onTestFinished(() => database.stop());
      const server = await start({ MONGODB_URI: database.uri, DRAIN_NOTICE_MS: "60000" });
      const caller = await signUp(server.url);
      expect((await caller.store({ text: "Rain in Lisbon.", namespace: "n" })).code).toBe("ok");
      database.pause();
      await expect.poll(() => statusOf(server, "/readyz"), { timeout: 20_000 }).toBe(503);
      const { value, ms } = await timed(server.stop());
      // Usage that cannot be written is said in the log, and the end goes on.
      expect(value).toBe(0);
      expect(ms).toBeLessThan(CLOSE_TIMEOUT_MS);
      expect(server.output()).not.toContain('"phase":"notice"');
    },
    90_000,
  );
});

describe("a second signal", () => {
  it("ends the notice and the calls", async () => {
    const server = await start({ DRAIN_NOTICE_MS: "60000" });
    void server.stop();
    // Within a second it would be the same signal, sent twice.
    await sleep(200);
    process.kill(server.pid, "SIGTERM");
    await sleep(1_300);
    expect(await statusOf(server, "/readyz")).toBe(503);
    const { value, ms } = await timed(server.stop());
    expect(value).toBe(0);
    expect(ms).toBeLessThan(SLACK_MS);
  });

  it("is not needed at a terminal: ^C gives half a second's notice", async () => {
    const server = await start({ DRAIN_NOTICE_MS: "60000" });
    const exited = server.exited();
    process.kill(server.pid, "SIGINT");
    const { value, ms } = await timed(exited);
    expect(value).toBe(0);
    expect(ms).toBeLessThan(500 + SLACK_MS);
  });
});
