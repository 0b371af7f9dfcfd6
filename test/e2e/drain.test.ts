import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { expectGot, outcomeOf, storedMemoryOf } from "../faults/load.js";
import { signUp } from "../support/caller.js";
import { chanceOf } from "../support/chance.js";
import { MONGO_DATABASE } from "../support/databases.js";
import { SLACK_MS, start, statusOf, timed } from "../support/draining.js";
import { startStandIn } from "../support/mongo/stand-in.js";
import type { TestServer } from "../support/server.js";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Maximum duration of the flush, as in `src/compose.ts`. */
const CLOSE_TIMEOUT_MS = 30_000;

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
    // The rest of the request arrives on a connection that takes no other.
    call.end('."}');
    const [response] = await answered;
    expect(response[":status"]).toBe(200);
    call.resume();
    expect(await stopped).toBe(0);
  });

  it("ends calls that take longer than SHUTDOWN_TIMEOUT_MS, and keeps all it answered and counted", async () => {
    const server = await start({ SHUTDOWN_TIMEOUT_MS: "100", METRICS_PORT: "0" });
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
    // The system resets connections that the server has not taken when it closes its port.
    await expect
      .poll(() => connectionsOf(server), { timeout: SLACK_MS })
      .toBeGreaterThanOrEqual(texts.length);
    const { value, ms } = await timed(server.stop());
    expect(value).toBe(0);
    expect(ms).toBeLessThan(600 + SLACK_MS);
    const ended = await Promise.all(calls);
    const kept = ended.flatMap(({ sent, outcome }) =>
      outcome !== "unanswered" && outcome.code === "ok" ? [storedMemoryOf(caller, sent, outcome)] : [],
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

async function connectionsOf({ metricsUrl }: TestServer): Promise<number> {
  const metrics = await (await fetch(metricsUrl)).text();
  return Number(/^recalld_connections_open (\d+)$/m.exec(metrics)?.[1]);
}

async function storesCounted(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/recalld.v1.AccountService/GetUsage`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: "{}",
  });
  const { days } = (await response.json()) as { days: { stores: number }[] };
  return days.reduce((sum, { stores }) => sum + stores, 0);
}

it("a call that shutting down ends is told when to come again", async () => {
  const server = await start({ SHUTDOWN_TIMEOUT_MS: "100", EMBED_WORKERS: "1" });
  const { key } = await signUp(server.url);
  const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
  const chance = chanceOf(7);
  const text = Array.from({ length: 4_000 }, chance.text).join(". ").slice(0, 30_000);
  const body = JSON.stringify({ namespace: "n", text });
  const calls = Array.from({ length: 4 }, () =>
    fetch(`${server.url}/store`, { method: "POST", headers, body }),
  );
  await sleep(500);
  const stopped = server.stop();
  const answers = await Promise.all(calls);
  const ended = answers.filter(({ status }) => status === 503);
  expect(ended.length).toBeGreaterThan(0);
  for (const { headers } of ended) expect(headers.get("retry-after")).toBe("1");
  expect(await Promise.all(ended.map((each) => each.text()))).toEqual(
    ended.map(() => expect.stringContaining("the server is shutting down")),
  );
  expect(await stopped).toBe(0);
});

describe("without its database", () => {
  it.skipIf(MONGO_DATABASE.missing !== undefined)(
    "ends in time all the same, without a notice: it was not ready (a stand-in for MongoDB of its own)",
    async () => {
      const database = await startStandIn();
      onTestFinished(() => database.stop());
      const server = await start({ MONGODB_URI: database.uri, DRAIN_NOTICE_MS: "60000" });
      const caller = await signUp(server.url);
      expect((await caller.store({ text: "Rain in Lisbon.", namespace: "n" })).code).toBe("ok");
      await database.pause();
      await expect.poll(() => statusOf(server, "/readyz"), { timeout: 20_000 }).toBe(503);
      const { value, ms } = await timed(server.stop());
      // The log reports usage that cannot be written, and the shutdown continues.
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
    // Within a second, it would count as the same signal sent twice.
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
