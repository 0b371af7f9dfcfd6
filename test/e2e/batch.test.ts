import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { DATABASES, LOCAL_DATABASE } from "../support/databases.js";
import { onDatabase } from "../support/on-database.js";
import { accountAt, type Outcome, type Protocol, protocolsOf, type RpcName } from "../support/protocols.js";
import type { TestServer } from "../support/server.js";

// Machines that run many tests at once are slow. A test that must be quick sets its own limit.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

interface Item extends JsonObject {
  text: string;
}

const itemsOf = (count: number, word = "text"): Item[] =>
  Array.from({ length: count }, (_, i) => ({ text: `${word} number ${i}`, metadata: { i } }));

const resultsOf = ({ body }: Outcome) => body.results as { stored?: JsonObject; error?: JsonObject }[];
const idsOf = (outcome: Outcome) => resultsOf(outcome).map(({ stored }) => stored?.id as string);

describe.each(DATABASES)("batches on $name", (database) => {
  const here = onDatabase(database);
  const { test } = here;

  test("store each memory in order, findable at once, for one call each", async () => {
    const { call, used, count } = await accountAt(here.protocol);
    const items = itemsOf(100);
    const outcome = await call("StoreBatch", { namespace: "n", memories: items });
    expect(outcome.code).toBe("ok");
    const ids = idsOf(outcome);
    expect(new Set(ids).size).toBe(100);
    expect(ids).toEqual(ids.toSorted());
    expect(await used()).toBe(100);
    expect(await count("n")).toBe(100);
    const { body } = await call("Recall", { namespace: "n", query: "text number 77", top_k: 1 });
    expect((body.results as JsonObject[])[0]).toMatchObject({ text: "text number 77", metadata: { i: 77 } });
    const listed = await call("ListMemories", { namespace: "n", page_size: 100, order: "OLDEST_FIRST" });
    expect((listed.body.memories as JsonObject[]).map(({ id }) => id)).toEqual(ids);
    const [memory] = listed.body.memories as JsonObject[];
    const { stored } = resultsOf(outcome)[0] as { stored: JsonObject };
    expect(stored).toEqual({ id: ids[0], tokens: memory?.tokens, created_at: memory?.created_at });
    const usage = await call("GetUsage", { days: 1 });
    expect((usage.body.days as JsonObject[])[0]).toMatchObject({ stores: 100 });
  });

  test("store the same as single stores do", async () => {
    const { call } = await accountAt(here.protocol);
    const texts = ["The cat sleeps.", "é".repeat(300), "A sentence of some length. ".repeat(100)];
    for (const text of texts) await call("Store", { namespace: "single", text });
    await call("StoreBatch", { namespace: "batch", memories: texts.map((text) => ({ text })) });
    const found = async (namespace: string) => {
      const { body } = await call("Recall", { namespace, query: "Where is the cat?" });
      return (body.results as JsonObject[]).map(({ id: _, created_at: __, ...result }) => result);
    };
    expect(await found("batch")).toEqual(await found("single"));
  });

  test("are refused whole when the plan cannot pay for them", async () => {
    const { call, used, count } = await accountAt(here.protocol);
    for (let i = 0; i < 3; i++) await call("StoreBatch", { namespace: "n", memories: itemsOf(256) });
    await call("StoreBatch", { namespace: "n", memories: itemsOf(132) });
    expect(await used()).toBe(900);
    const refused = await call("StoreBatch", { namespace: "n", memories: itemsOf(101) });
    expect(refused).toMatchObject({ code: "resource_exhausted", reason: "QUOTA_EXHAUSTED" });
    expect(refused.message).toMatch(/needs 101 calls, and 100 .* are left/);
    expect([await used(), await count("n")]).toEqual([900, 900]);
    expect((await call("StoreBatch", { namespace: "n", memories: itemsOf(100) })).code).toBe("ok");
    expect([await used(), await count("n")]).toEqual([1000, 1000]);
    expect(await call("StoreBatch", { namespace: "n", memories: itemsOf(1) })).toMatchObject({
      code: "resource_exhausted",
      message: expect.stringMatching(/all 1,000 calls/),
    });
  });

  test("race for the last calls, and each gets all or none", async () => {
    const { call, used, count } = await accountAt(here.protocol);
    for (let i = 0; i < 3; i++) await call("StoreBatch", { namespace: "n", memories: itemsOf(256) });
    await call("StoreBatch", { namespace: "n", memories: itemsOf(182) });
    const racing = Array.from({ length: 5 }, () =>
      call("StoreBatch", { namespace: "n", memories: itemsOf(20) }),
    );
    const codes = (await Promise.all(racing)).map(({ code }) => code).toSorted();
    expect(codes).toEqual(["ok", "ok", "resource_exhausted", "resource_exhausted", "resource_exhausted"]);
    expect([await used(), await count("n")]).toEqual([990, 990]);
  });

  test("store once for an idempotency key, and answer the same again", async () => {
    const { call, used, count } = await accountAt(here.protocol);
    const header = { "idempotency-key": "k" };
    const request = { namespace: "n", memories: itemsOf(70) };
    const first = await call("StoreBatch", request, header);
    expect(first.header.get("idempotent-replayed")).toBeNull();
    const again = await Promise.all([1, 2, 3].map(() => call("StoreBatch", request, header)));
    for (const each of again) {
      expect(each.body).toEqual(first.body);
      expect(each.header.get("idempotent-replayed")).toBe("true");
    }
    expect([await used(), await count("n")]).toEqual([70, 70]);
    const reused = { code: "already_exists", reason: "IDEMPOTENCY_KEY_REUSED" };
    const others: [RpcName, JsonObject][] = [
      ["StoreBatch", { ...request, memories: itemsOf(71) }],
      ["StoreBatch", { ...request, memories: itemsOf(70).toReversed() }],
      ["StoreBatch", { ...request, namespace: "m" }],
      ["Store", { namespace: "n", ...itemsOf(1)[0] }],
    ];
    for (const [rpc, other] of others) expect(await call(rpc, other, header)).toMatchObject(reused);
    const gone = idsOf(first)[5] as string;
    await call("DeleteMemory", { namespace: "n", id: gone });
    const results = resultsOf(await call("StoreBatch", request, header));
    expect(results[5]?.error).toMatchObject({
      code: "failed_precondition",
      reason: "IDEMPOTENT_MEMORY_DELETED",
    });
    expect(results.filter(({ stored }) => stored !== undefined)).toHaveLength(69);
    expect([await used(), await count("n")]).toEqual([70, 69]);
  });

  test("are answered again though their memories were updated since, and say which are gone", async () => {
    const { call } = await accountAt(here.protocol);
    const request = { namespace: "n", memories: itemsOf(4) };
    const header = { "idempotency-key": "updated" };
    const ids = idsOf(await call("StoreBatch", request, header));
    const update = (i: number, changes: JsonObject) =>
      call("UpdateMemory", { namespace: "n", id: ids[i] as string, ...changes });
    for (const text of ["once", "twice"]) expect((await update(0, { text })).code).toBe("ok");
    expect((await update(1, { metadata: { a: 1 } })).code).toBe("ok");
    await call("DeleteMemory", { namespace: "n", id: ids[1] as string });
    expect((await update(2, { ttl: "0.1s" })).code).toBe("ok");
    await vi.waitFor(async () => {
      const again = await call("StoreBatch", request, header);
      expect(again.header.get("idempotent-replayed")).toBe("true");
      const gone = { error: { code: "failed_precondition", reason: "IDEMPOTENT_MEMORY_DELETED" } };
      const stored = [{ stored: { id: ids[0] } }, gone, gone, { stored: { id: ids[3] } }];
      expect(resultsOf(again)).toMatchObject(stored);
    });
    const listed = await call("ListMemories", { namespace: "n", order: "OLDEST_FIRST" });
    expect((listed.body.memories as JsonObject[]).map(({ text }) => text)).toEqual([
      "text number 3",
      "twice",
    ]);
  });

  test("store once what comes five times at once with one key", async () => {
    const { call, used, count } = await accountAt(here.protocol);
    const request = { namespace: "n", memories: itemsOf(60) };
    const calls = Array.from({ length: 5 }, () => call("StoreBatch", request, { "idempotency-key": "k" }));
    const answers = await Promise.all(calls);
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(answers.filter(({ header }) => header.get("idempotent-replayed") === "true")).toHaveLength(4);
    expect([await used(), await count("n")]).toEqual([60, 60]);
  });
});

describe("batches", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await (await LOCAL_DATABASE.make()).start({ FREE_CALLS: "1000000" });
  });
  afterAll(() => server.stop());

  it("do not hold up the short calls of another account", async () => {
    const protocol = protocolsOf(server.url)[0] as Protocol;
    const [loud, quiet] = [await accountAt(protocol), await accountAt(protocol)];
    await quiet.call("Store", { namespace: "n", text: "warm" });
    let over = false;
    const batches = Promise.all(
      Array.from({ length: 4 }, (_, i) =>
        loud.call("StoreBatch", {
          namespace: `n${i}`,
          memories: itemsOf(256, "a longer sentence with words"),
        }),
      ),
    ).finally(() => {
      over = true;
    });
    const tookMs: number[] = [];
    while (!over) {
      const begunMs = performance.now();
      expect((await quiet.call("Store", { namespace: "n", text: `short ${tookMs.length}` })).code).toBe("ok");
      tookMs.push(performance.now() - begunMs);
    }
    expect((await batches).map(({ code }) => code)).toEqual(["ok", "ok", "ok", "ok"]);
    tookMs.sort((a, b) => a - b);
    const totalMs = tookMs.reduce((sum, ms) => sum + ms, 0);
    // It waits for a few texts in turn, and not for a batch.
    expect(tookMs.at(-1)).toBeLessThan(Math.max(1_000, totalMs / 4));
    expect(tookMs.length).toBeGreaterThan(8);
  });

  it("store what there is time for, and say which memories were left out", async () => {
    const protocol = protocolsOf(server.url)[0] as Protocol;
    const { call, used, count } = await accountAt(protocol);
    const words = (n: number) =>
      Array.from({ length: 9_000 }, (_, i) => `w${(i * (n + 7)) % 9973}`).join(" ");
    const long = Array.from({ length: 60 }, (_, i) => ({ text: words(i).slice(0, 60_000) }));
    const memories = [{ text: "first" }, ...long, { text: "last" }];
    const header = { "connect-timeout-ms": "5000", "idempotency-key": "k" };
    const outcome = await call("StoreBatch", { namespace: "n", memories }, header);
    expect(outcome.code).toBe("ok");
    const results = resultsOf(outcome);
    const stored = results.filter((each) => each.stored !== undefined).length;
    expect(stored).toBeGreaterThan(0);
    expect(stored).toBeLessThan(memories.length);
    for (const { error } of results) {
      if (error) expect(error).toMatchObject({ code: "unavailable", reason: "MODEL_BUSY" });
    }
    expect([await used(), await count("n")]).toEqual([stored, stored]);
    // The same key does the rest, and stores nothing twice.
    const again = await call("StoreBatch", { namespace: "n", memories }, header);
    expect(again.code).toBe("ok");
    const more = resultsOf(again);
    for (const [i, { stored }] of results.entries()) if (stored) expect(more[i]?.stored).toEqual(stored);
    const now = more.filter((each) => each.stored !== undefined).length;
    expect(now).toBeGreaterThanOrEqual(stored);
    expect([await used(), await count("n")]).toEqual([now, now]);
  });

  it("that run into their deadline pay for what they have stored", async () => {
    const protocol = protocolsOf(server.url)[0] as Protocol;
    const { call, used, count } = await accountAt(protocol);
    const memories = itemsOf(256, "some words to read, and some more of them,");
    const outcome = await call("StoreBatch", { namespace: "n", memories }, { "connect-timeout-ms": "700" });
    expect(["deadline_exceeded", "ok"]).toContain(outcome.code);
    await vi.waitFor(async () => expect(await used()).toBe(await count("n")), { timeout: 10_000 });
  });
});
