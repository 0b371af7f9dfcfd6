import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { hashKey } from "../../src/accounts/key.js";
import { setPlan } from "../../src/accounts/plan.js";
import { parsePlans } from "../../src/config/plans.js";
import { openLocal } from "../../src/storage/local/open.js";
import { signUp } from "../support/caller.js";
import { type Protocol, protocolsOf, readJson } from "../support/protocols.js";
import { scrape } from "../support/scrape.js";
import { newDataDir, runUntilExit, startServer, type TestServer } from "../support/server.js";
import { openBrowserSession } from "../support/sessions.js";

// Whole servers start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

// The protocols' names are needed before the server's port is known.
const PROTOCOLS = protocolsOf("http://127.0.0.1:1").map(({ name }, n) => ({ name, n }));

/** A bucket of 3 calls that takes half an hour to gain another one, longer than any machine needs here. */
const SLOW = { calls: 1000, calls_per_second: 0.001, burst: 3 };

function plansFile(plans: unknown): string {
  const file = join(newDataDir(), "plans.json");
  writeFileSync(file, JSON.stringify(plans));
  return file;
}

/** Begins a call whose body is not complete yet. */
function openCall({ url }: TestServer, key: string) {
  const call = request(`${url}/recall`, {
    method: "POST",
    agent: false,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
  });
  call.on("error", () => {});
  call.write('{"query":');
  return {
    abandon: () => call.destroy(),
    finish: () =>
      new Promise<number | undefined>((resolve, reject) => {
        call.once("response", (response) => resolve(response.resume().statusCode)).once("error", reject);
        call.end('"a","namespace":"n"}');
      }),
  };
}

let limited: TestServer;
let narrow: TestServer;
beforeAll(async () => {
  [limited, narrow] = await Promise.all([
    startServer({ env: { PLANS_FILE: plansFile({ free: SLOW }) } }),
    startServer({
      env: {
        PLANS_FILE: plansFile({ free: { calls: 1000, concurrent_calls: 1 } }),
        CONNECTIONS_PER_ADDRESS_MAX: "8",
      },
    }),
  ]);
});
afterAll(() => Promise.all([limited.stop(), narrow.stop()]));

describe.each(PROTOCOLS)("through $name", ({ n }) => {
  it("every answer says where the key stands, and one too many is refused, uncharged", async () => {
    const protocol = protocolsOf(limited.url)[n] as Protocol;
    const { key } = await signUp(limited.url);
    const stored = await protocol.call("Store", { text: "a", namespace: "n" }, { key });
    expect(stored.code).toBe("ok");
    expect(stored.header.get("ratelimit-policy")).toBe('"rate";q=3;w=3000');
    expect(stored.header.get("ratelimit")).toMatch(/^"rate";r=2;t=(1000|999)$/);
    // A call that fails for another reason also has these headers.
    const wrong = await protocol.call("Store", { text: "", namespace: "n" }, { key });
    expect(wrong.code).toBe("invalid_argument");
    expect(wrong.header.get("ratelimit")).toMatch(/^"rate";r=1;t=/);
    const { body } = await protocol.call("GetAccount", {}, { key });
    expect(body).toMatchObject({ plan: "free", calls_used: 1 });

    const refused = await protocol.call("Store", { text: "b", namespace: "n" }, { key });
    expect(refused).toMatchObject({ code: "resource_exhausted", reason: "KEY_RATE_LIMITED" });
    expect(refused.message).toBe("this key makes more than the 0.001 calls a second of its plan");
    expect(refused.header.get("ratelimit-policy")).toBe('"rate";q=3;w=3000');
    expect(refused.header.get("ratelimit")).toMatch(/^"rate";r=0;t=(3000|29\d\d)$/);
    expect(Number(refused.header.get("retry-after"))).toBeGreaterThan(900);
    if (refused.status !== undefined) expect(refused.status).toBe(429);
  });
});

it("one key's flood is no other key's, not even of the same account", async () => {
  const protocol = protocolsOf(limited.url)[0] as Protocol;
  const { key } = await signUp(limited.url);
  const made = await protocol.call("CreateKey", { name: "second" }, { key });
  const second = String(made.body.api_key);
  const codes = [];
  for (let call = 0; call < 5; call++) codes.push((await protocol.call("GetAccount", {}, { key })).code);
  expect(codes).toEqual(["ok", "ok", "resource_exhausted", "resource_exhausted", "resource_exhausted"]);
  expect((await protocol.call("GetAccount", {}, { key: second })).code).toBe("ok");
});

it("updates of metadata take of the rate for all that they write, however small each is", async () => {
  const { call } = await signUp(limited.url);
  const memories = Array.from({ length: 10 }, (_, i) => ({
    text: `${i}`,
    metadata: { k: "x".repeat(9_000) },
  }));
  const { body } = await call("POST /store/batch", { body: { namespace: "n", memories } });
  const ids = (body.results as { stored: { id: string } }[]).map(({ stored }) => stored.id);
  const update = { body: { ids, metadata: { done: true } } };
  const updated = await call("POST /namespaces/n/memories/update", update);
  // One of the three is left for what is written: 16 KiB, and up to as many again that nothing was taken for yet.
  expect(updated.body).toMatchObject({ updated: 3, next_page_token: expect.stringMatching(/./) });
  expect((await call("GET /account")).reason).toBe("KEY_RATE_LIMITED");

  const { call: other } = await signUp(limited.url);
  const stored = await other("POST /store", { body: { namespace: "n", text: "a" } });
  const patch = { body: { metadata: { k: "x".repeat(16_370) } } };
  const patched = await other(`PATCH /namespaces/n/memories/${stored.body.id}`, patch);
  expect(patched.code).toBe("ok");
  expect((await other("GET /account")).reason).toBe("KEY_RATE_LIMITED");
});

it("a browser's sessions share the limits of their key, however many they are", async () => {
  const { key } = await signUp(limited.url);
  const one = await openBrowserSession(limited.url, key);
  const other = await openBrowserSession(limited.url, key);
  const ask = async ({ header }: { header: Record<string, string> }) =>
    readJson(await fetch(`${limited.url}/account`, { headers: header }));
  const last = await ask(one);
  expect([last.code, last.header.get("ratelimit")?.slice(0, 11)]).toEqual(["ok", '"rate";r=0;']);
  for (const each of [one, other]) expect((await ask(each)).reason).toBe("KEY_RATE_LIMITED");
  const told = await readJson(await fetch(`${limited.url}/session`, { headers: other.header }));
  expect(told).toMatchObject({ reason: "KEY_RATE_LIMITED", status: 429 });
  expect(Number(told.header.get("retry-after"))).toBeGreaterThan(900);
  expect(told.header.get("ratelimit")).toMatch(/^"rate";r=0;/);
  // Signing out is for those, too, who have called too often.
  const out = await fetch(`${limited.url}/session`, { method: "DELETE", headers: one.header });
  expect(out.status).toBe(200);
});

it("a key has no more calls running than its plan allows, and the next as soon as one is answered", async () => {
  const protocol = protocolsOf(narrow.url)[0] as Protocol;
  const { key } = await signUp(narrow.url);
  const running = openCall(narrow, key);
  const refused = async () => (await protocol.call("GetAccount", {}, { key })).code === "resource_exhausted";
  await vi.waitUntil(refused, { timeout: 20_000 });
  const { reason, header } = await protocol.call("GetAccount", {}, { key });
  expect(reason).toBe("CONCURRENCY_LIMITED");
  expect(header.get("retry-after")).toBe("1");
  expect(header.get("ratelimit-policy")).toBe('"concurrency";q=1;qu="concurrent-requests"');
  expect(header.get("ratelimit")).toBe('"concurrency";r=0');
  expect(await running.finish()).toBe(200);
  await vi.waitUntil(async () => !(await refused()), { timeout: 20_000 });
  // A client that disconnects in the middle leaves no room taken.
  const another = openCall(narrow, key);
  await vi.waitUntil(refused, { timeout: 20_000 });
  another.abandon();
  await vi.waitUntil(async () => !(await refused()), { timeout: 20_000 });
});

it("an address has no more connections than it may, and the rest is served on", async () => {
  const idle = Array.from({ length: 16 }, () => connect(narrow.port, "127.0.0.1").on("error", () => {}));
  const ends = idle.map((socket) => new Promise((resolve) => socket.once("close", () => resolve(true))));
  await vi.waitUntil(async () => {
    const ended = await Promise.all(ends.map((end) => Promise.race([end, Promise.resolve(false)])));
    return ended.filter(Boolean).length >= 8;
  });
  for (const socket of idle) socket.destroy();
  const ready = () => fetch(`${narrow.url}/readyz`).then(({ status }) => status === 200);
  await vi.waitUntil(() => ready().catch(() => false), { timeout: 20_000 });
});

it("what is refused and cut off can be seen, and probes are answered, while all connections are taken", async () => {
  const full = await startServer({
    env: { METRICS_PORT: "0", CONNECTIONS_MAX: "16", CONNECTIONS_PER_ADDRESS_MAX: "12" },
  });
  onTestFinished(() => full.kill());
  const open = (localAddress: string, bytes: string) => {
    const socket = connect({ port: full.port, host: "127.0.0.1", localAddress });
    socket
      .on("error", () => {})
      .resume()
      .write(bytes);
    onTestFinished(() => void socket.destroy());
  };
  const found = () => scrape(full.metricsUrl);
  const reaches = async (name: string, reason: string, count: number) =>
    (await found()).sum(`recalld_${name}_total`, { reason }) === count;
  // One address gets a third of them, and ten more addresses all but the last one.
  for (let i = 0; i < 14; i++) open("127.0.0.2", "P");
  await vi.waitUntil(() => reaches("connections_refused", "address", 9));
  for (let i = 0; i < 12; i++) open(`127.0.0.${3 + i}`, i < 2 ? "GET / HTTP/1.1\r\n" : "");
  await vi.waitUntil(() => reaches("connections_refused", "total", 2));
  await expect(fetch(`${full.url}/readyz`)).rejects.toThrow("fetch failed");
  for (const path of ["/livez", "/readyz"]) {
    expect((await fetch(new URL(path, full.metricsUrl))).status).toBe(200);
  }
  const then = await found();
  expect([then.sum("recalld_connections_open"), then.sum("recalld_connections_limit")]).toEqual([15, 16]);
  await vi.waitUntil(() => reaches("clients_cut_off", "request", 2), { timeout: 20_000 });
  await vi.waitUntil(() => reaches("clients_cut_off", "first_bytes", 13), { timeout: 20_000 });
  await vi.waitUntil(async () => (await found()).sum("recalld_connections_open") === 0);
}, 60_000);

it("more headers than are looked at are refused, so that none is overlooked", async () => {
  const many = Object.fromEntries(Array.from({ length: 130 }, (_, n) => [`x-${n}`, "1"]));
  const response = await fetch(`${limited.url}/livez`, { headers: many });
  expect(response.status).toBe(431);
  expect(await response.json()).toMatchObject({
    code: "resource_exhausted",
    message: "the request has more than 128 headers",
  });
});

it("without a file of plans, a key has a rate and a concurrency as well", async () => {
  const server = await startServer({ env: { PLANS_FILE: "" } });
  try {
    const caller = await signUp(server.url);
    const { code, header } = await caller.store({ text: "a", namespace: "n" });
    expect(code).toBe("ok");
    expect(header.get("ratelimit-policy")).toBe(
      '"rate";q=100;w=2, "concurrency";q=32;qu="concurrent-requests"',
    );
    // The machine's speed decides which of the two limits comes first, and after how many calls.
    const isLimited = async () => {
      const all = await Promise.all(Array.from({ length: 200 }, () => caller.recall("a", "n")));
      expect(all.filter(({ code }) => code === "ok").length).toBeGreaterThan(0);
      return all.some(({ reason }) => /^(CONCURRENCY|KEY_RATE)_LIMITED$/.test(reason ?? ""));
    };
    await vi.waitUntil(isLimited, { timeout: 30_000 });
  } finally {
    await server.stop();
  }
});

it("plans that are wrong stop the start, each with a line", async () => {
  const file = plansFile({ free: { calls: "many" }, team: { calls: 1, burst: 0 } });
  const { code, output } = await runUntilExit({ PLANS_FILE: file, DATA_DIR: newDataDir() });
  expect(code).toBe(1);
  expect(output.trimEnd().split("\n")).toEqual([
    expect.stringContaining(`recalld: PLANS_FILE ${file} plan "free": calls is "many"; it must be a whole`),
    expect.stringContaining(`recalld: PLANS_FILE ${file} plan "team": burst is 0; it must be a whole number`),
    `recalld: PLANS_FILE ${file} plan "team": burst needs calls_per_second`,
  ]);
  const gone = await runUntilExit({ PLANS_FILE: "/nowhere/plans.json", DATA_DIR: newDataDir() });
  expect(gone).toMatchObject({
    code: 1,
    output: expect.stringContaining("PLANS_FILE /nowhere/plans.json cannot be read"),
  });
});

it("an account of a plan that was taken away is told so", async () => {
  const dataDir = newDataDir();
  const before = plansFile({ free: { calls: 5 } });
  const first = await startServer({ dataDir, env: { PLANS_FILE: before } });
  const { key } = await signUp(first.url);
  await first.stop();
  const gold = plansFile({ free: { calls: 5 }, gold: { calls: null, calls_per_second: 1000 } });
  const storage = await openLocal({ dataDir });
  const accountId = (await storage.accounts.findByKey(hashKey(key)))?.id as string;
  const plans = parsePlans(readFileSync(gold, "utf8"), gold);
  await setPlan({ accounts: storage.accounts, plans }, { accountId, plan: "gold" });
  await storage.close();
  const protocol = (server: TestServer) => protocolsOf(server.url)[0] as Protocol;
  const second = await startServer({ dataDir, env: { PLANS_FILE: before } });
  try {
    const refused = await protocol(second).call("GetAccount", {}, { key });
    expect(refused).toMatchObject({ code: "failed_precondition", reason: "PLAN_UNKNOWN" });
    expect(refused.message).toBe('there is no plan "gold" here; the operator must assign another');
  } finally {
    await second.stop();
  }
  const third = await startServer({ dataDir, env: { PLANS_FILE: gold } });
  try {
    expect((await protocol(third).call("Recall", { query: "a", namespace: "n" }, { key })).code).toBe("ok");
    const { body, header } = await protocol(third).call("GetAccount", {}, { key });
    // The contract's largest number means no limit.
    expect(body).toMatchObject({ plan: "gold", calls_limit: 2_147_483_647, calls_used: 1 });
    expect(header.get("ratelimit-policy")).toBe('"rate";q=1000;w=1');
  } finally {
    await third.stop();
  }
});

it("what would wait too long is turned away before it is charged, and readiness stays", async () => {
  const busy = await startServer({ env: { FREE_CALLS: "100000" } });
  try {
    const caller = await signUp(busy.url);
    // The first two keep the model busy for seconds.
    const long = "the lake is deep and cold ".repeat(2_500);
    const texts = Array.from({ length: 700 }, (_, n) => `${n} ${n < 2 ? long : "the lake"}`);
    const ready: number[] = [];
    const answers = Promise.all(texts.map((text) => caller.store({ text, namespace: "n" })));
    for (let attempt = 0; attempt < 10; attempt++) ready.push((await fetch(`${busy.url}/readyz`)).status);
    const outcomes = await answers;
    const refused = outcomes.filter(({ code }) => code !== "ok");
    expect(refused.length).toBeGreaterThan(0);
    for (const { code, message, header } of refused) {
      expect(code).toBe("unavailable");
      expect(Number(header.get("retry-after"))).toBeGreaterThanOrEqual(1);
      expect(message).toMatch(/waiting for the model|the model has too much to read|the server is too busy/);
    }
    expect(ready).toEqual(Array(10).fill(200));
    expect(await caller.used()).toBe(outcomes.length - refused.length);
    expect((await caller.store({ text: "after", namespace: "n" })).code).toBe("ok");
  } finally {
    await busy.kill();
  }
});
