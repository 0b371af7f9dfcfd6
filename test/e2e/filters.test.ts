import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, it } from "vitest";
import { DATABASES } from "../support/databases.js";
import { type accountWith, onSharedServer, openAccountAt } from "../support/on-database.js";
import { type Protocol, protocolsOf, type RpcName } from "../support/protocols.js";
import { sharedServer, type TestServer } from "../support/server.js";

const TIMEOUT_MS = 120_000;
const PROTOCOLS = protocolsOf("http://127.0.0.1:1").map(({ name }) => name);
const namespace = "n";

/** Makes calls of a new account to one namespace. */
async function accountAt(protocol: Protocol) {
  return callsOf(await openAccountAt(protocol));
}

function callsOf({ key, call: callAnywhere }: ReturnType<typeof accountWith>) {
  const call = (rpc: RpcName, request: JsonObject = {}) => callAnywhere(rpc, { namespace, ...request });
  const store = async (text: string, metadata: JsonObject = {}) =>
    String((await call("Store", { text, metadata })).id);
  const texts = async (rpc: "Recall" | "ListMemories", request: JsonObject) => {
    const body = await call(rpc, request);
    return ((body.results ?? body.memories) as JsonObject[]).map(({ text }) => text);
  };
  const count = async (filter?: JsonObject) =>
    (await call("CountMemories", filter && { filter })).memories as number;
  return { key, call, store, texts, count };
}

describe.each(DATABASES)("filters on $name", (database) => {
  const here = onSharedServer(database);
  const { test } = here;

  test("a recall finds what matches, also what was stored or deleted a moment ago", async () => {
    const { call, store, texts } = await accountAt(here.protocol);
    const query = "Where does the cat sleep?";
    await store("The cat sleeps on the radiator.", { source: "chat", turn: 1 });
    await store("A kitten naps near the heater.", { source: "mail", turn: 2 });
    const mail = { query, filter: { source: "mail" } };
    for (const mode of ["COSINE", "HYBRID"]) {
      expect(await texts("Recall", { ...mail, mode })).toEqual(["A kitten naps near the heater."]);
    }
    const id = await store("The cat sleeps on the mat.", { source: "mail", turn: 3 });
    for (const mode of ["COSINE", "HYBRID"]) {
      expect(await texts("Recall", { ...mail, mode })).toEqual([
        "The cat sleeps on the mat.",
        "A kitten naps near the heater.",
      ]);
      expect(await texts("Recall", { ...mail, mode, top_k: 1 })).toEqual(["The cat sleeps on the mat."]);
    }
    await call("DeleteMemory", { id });
    expect(await texts("Recall", mail)).toEqual(["A kitten naps near the heater."]);
    expect(await texts("Recall", { query, filter: { turn: { $gt: 5 } } })).toEqual([]);
    expect(await texts("Recall", { ...mail, namespace: "none" })).toEqual([]);
    expect(await texts("Recall", { query, filter: {} })).toEqual(await texts("Recall", { query }));
  });

  test("a recall finds what was stored between two times", async () => {
    const { call, texts, store } = await accountAt(here.protocol);
    for (const text of ["one", "two", "three"]) await store(text);
    const { memories } = await call("ListMemories", { order: "OLDEST_FIRST" });
    const [one, two, three] = (memories as JsonObject[]).map(({ created_at }) => String(created_at));
    const between = (more: JsonObject) => texts("Recall", { query: "one two three", ...more });
    const others = (all: unknown[], ...gone: string[]) => all.filter((each) => !gone.includes(String(each)));
    const all = await between({});
    // Two of them may be of one millisecond.
    if (one === two || two === three) return;
    expect(await between({ after: one as string })).toEqual(others(all, "one"));
    expect(await between({ before: three as string })).toEqual(others(all, "three"));
    expect(await between({ after: one as string, before: three as string })).toEqual(["two"]);
    expect(await between({ before: one as string })).toEqual([]);
  });

  test("lists and counts what matches, page by page, in both orders", async () => {
    const { call, store, count } = await accountAt(here.protocol);
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) ids.push(await store(`text ${i}`, { even: i % 2 === 0, i }));
    await call("DeleteMemory", { id: ids[4] as string });
    const filter = { even: true };
    expect(await count(filter)).toBe(9);
    expect(await count()).toBe(19);
    expect(await count({ even: "true" })).toBe(0);
    for (const order of ["NEWEST_FIRST", "OLDEST_FIRST"]) {
      const pages: unknown[][] = [];
      for (let page_token = ""; ; ) {
        const page = await call("ListMemories", { filter, page_size: 4, page_token, order });
        pages.push((page.memories as { metadata: JsonObject }[]).map(({ metadata }) => metadata.i));
        page_token = String(page.next_page_token);
        if (page_token === "") break;
      }
      const expected = [0, 2, 6, 8, 10, 12, 14, 16, 18];
      if (order === "NEWEST_FIRST") expected.reverse();
      expect(pages.flat()).toEqual(expected);
      expect(pages.map(({ length }) => length)).toEqual([4, 4, 1]);
    }
  });

  test("refuses a page token of another filter, order or list", async () => {
    const { key, call, store } = await accountAt(here.protocol);
    for (let i = 0; i < 4; i++) await store(`text ${i}`, { i });
    const first = await call("ListMemories", { filter: { i: { $gte: 0 } }, page_size: 1 });
    const page_token = String(first.next_page_token);
    const plain = await call("ListMemories", { page_size: 1 });
    const wrong: JsonObject[] = [
      { filter: { i: { $gte: 1 } }, page_token },
      { page_token },
      { filter: { i: { $gte: 0 } }, page_token, order: "OLDEST_FIRST" },
      { filter: { i: { $gte: 0 } }, page_token, namespace: "other" },
      { filter: { i: { $gte: 0 } }, page_token: String(plain.next_page_token) },
    ];
    for (const request of wrong) {
      const outcome = await here.protocol.call("ListMemories", { namespace, ...request }, { key });
      expect(outcome).toMatchObject({ code: "invalid_argument", fields: ["page_token"] });
    }
    const again = { filter: { i: { $gte: 0 } }, page_token, page_size: 9 };
    expect(((await call("ListMemories", again)).memories as unknown[]).length).toBe(3);
  });

  test("deletes what matches in steps, and shows it before", async () => {
    const { call, store, count } = await accountAt(here.protocol);
    for (let i = 0; i < 40; i++) await store(`text ${i}`, { old: i < 30, i });
    const filter = { old: true };
    const dry = await call("DeleteMemories", { filter, dry_run: true });
    expect(dry).toMatchObject({ deleted: 0, more: false, matched: 30, namespace });
    expect((dry.samples as { metadata: JsonObject }[]).map(({ metadata }) => metadata.i)).toEqual(
      Array.from({ length: 20 }, (_, i) => i),
    );
    expect(await count()).toBe(40);
    expect(await call("DeleteMemories", { filter })).toEqual({
      deleted: 30,
      more: false,
      samples: [],
      namespace,
    });
    expect(await count()).toBe(10);
    expect(await count(filter)).toBe(0);
    expect(await call("DeleteMemories", { filter })).toMatchObject({ deleted: 0, more: false });
    expect(await call("DeleteMemories", { filter, namespace: "none" })).toMatchObject({ deleted: 0 });
    const none = await call("DeleteMemories", { filter, namespace: "none", dry_run: true });
    expect(none).toMatchObject({ matched: 0, samples: [] });
  }, 60_000);

  test("updates the metadata of what matches, shows it before, and writes nothing twice", async () => {
    const { call, store, texts } = await accountAt(here.protocol);
    for (let i = 0; i < 30; i++) {
      await store(`text ${i}`, { old: i < 25, i, of: { a: 1, b: [1], "c.d": true }, draft: "x" });
    }
    const change = {
      filter: { old: true },
      metadata: { of: { a: null, e: 2 }, seen: true },
      remove: ["draft", "of.c\\.d", "of.b.none", "nowhere.at.all"],
    };
    const after = { old: true, i: 0, of: { b: [1], e: 2 }, seen: true };
    const dry = await call("UpdateMemories", { ...change, dry_run: true });
    expect(dry).toMatchObject({ updated: 0, matched: 25, next_page_token: "", namespace });
    expect(dry.samples).toHaveLength(20);
    expect((dry.samples as JsonObject[])[0]?.metadata).toEqual(after);
    expect(await call("CountMemories", { filter: { seen: true } })).toMatchObject({ memories: 0 });
    expect(await call("UpdateMemories", change)).toEqual({
      updated: 25,
      unchanged: 0,
      failed: [],
      next_page_token: "",
      samples: [],
      namespace,
    });
    const { memories } = await call("ListMemories", { filter: { seen: true }, order: "OLDEST_FIRST" });
    expect((memories as JsonObject[]).map(({ metadata }) => metadata)).toEqual(
      expect.arrayContaining([after]),
    );
    expect(memories).toHaveLength(25);
    expect(await call("CountMemories", { filter: { draft: "x" } })).toMatchObject({ memories: 5 });
    expect(await texts("Recall", { query: "text 3", filter: { i: 3, seen: true } })).toEqual(["text 3"]);
    expect(await call("UpdateMemories", change)).toMatchObject({ updated: 0, unchanged: 25 });
    const none = { updated: 0, unchanged: 0, next_page_token: "" };
    expect(await call("UpdateMemories", { ...change, namespace: "none" })).toMatchObject(none);
  }, 60_000);

  test("updates the metadata of ids, and says which stay as they were", async () => {
    const { call, store } = await accountAt(here.protocol);
    const [long, plain] = [await store("long", { a: "x".repeat(9_000) }), await store("plain", { a: 1 })];
    const old = await store("old");
    await call("Store", { text: "new", supersedes: [old] });
    const absent = "mem_01jdh2zz00e00r000000000000";
    const ids = [long, plain, absent, old, plain];
    const answer = await call("UpdateMemories", { ids, metadata: { b: "y".repeat(9_000) } });
    expect(answer).toMatchObject({ updated: 1, unchanged: 0, next_page_token: "" });
    const failed = answer.failed as { id: string; error: JsonObject }[];
    expect(Object.fromEntries(failed.map(({ id, error }) => [id, error.code]))).toEqual({
      [long]: "invalid_argument",
      [absent]: "not_found",
      [old]: "failed_precondition",
    });
    const { memory } = await call("GetMemory", { id: plain });
    expect(memory).toMatchObject({ text: "plain", metadata: { a: 1, b: "y".repeat(9_000) } });
    const gone = await call("UpdateMemories", { ids: [plain], namespace: "none", remove: ["a"] });
    expect(gone).toMatchObject({ updated: 0, failed: [{ id: plain, error: { code: "not_found" } }] });
  }, 60_000);

  test("updates more than 256 memories page by page", async () => {
    const { call, key } = await accountAt(here.protocol);
    const many = (length: number) => Array.from({ length }, (_, i) => ({ text: `m ${i}`, metadata: { i } }));
    await call("StoreBatch", { memories: many(200) });
    await call("StoreBatch", { memories: many(80) });
    const change = { filter: { i: { $gte: 0 } }, metadata: { done: true } };
    const begunMs = performance.now();
    const first = await call("UpdateMemories", change);
    // A call begins no more updates after 15 seconds, which a busy machine may take.
    const isShort = performance.now() - begunMs > 15_000;
    expect(first).toMatchObject({ updated: isShort ? expect.any(Number) : 256, unchanged: 0 });
    const page_token = String(first.next_page_token);
    for (const other of [{ metadata: { done: false } }, { filter: { i: { $gte: 1 } } }]) {
      const request = { namespace, ...change, ...other, page_token };
      const refused = await here.protocol.call("UpdateMemories", request, { key });
      expect(refused).toMatchObject({ code: "invalid_argument", fields: ["page_token"] });
    }
    expect(await call("UpdateMemories", { ...change, page_token })).toMatchObject({
      updated: 280 - Number(first.updated),
      unchanged: first.updated,
      next_page_token: "",
    });
    expect(await call("CountMemories", { filter: { done: true } })).toMatchObject({ memories: 280 });
  }, 120_000);
});

describe("filters in every call", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await sharedServer();
  }, TIMEOUT_MS);

  it.each(PROTOCOLS)("mean the same through %s", async (name) => {
    const protocol = protocolsOf(server.url).find((each) => each.name === name) as Protocol;
    const { call, store, texts, count } = await accountAt(protocol);
    for (let i = 0; i < 6; i++) await store(`text ${i}`, { i, list: [i, "x"], "a.b": { $: i } });
    const filter = { $or: [{ i: { $lt: 2 } }, { "a\\.b.\\$": 5 }], list: "x" };
    expect((await texts("Recall", { query: "text", filter })).sort()).toEqual(["text 0", "text 1", "text 5"]);
    expect(await texts("ListMemories", { filter })).toEqual(["text 5", "text 1", "text 0"]);
    expect(await count(filter)).toBe(3);
    expect(await call("DeleteMemories", { filter, dry_run: true })).toMatchObject({ matched: 3 });
    expect(await call("DeleteMemories", { filter })).toMatchObject({ deleted: 3, more: false });
    expect(await texts("ListMemories", {})).toEqual(["text 4", "text 3", "text 2"]);
  });
});

describe("a filter", () => {
  let server: TestServer;
  let protocol: Protocol;
  beforeAll(async () => {
    server = await sharedServer();
    protocol = protocolsOf(server.url)[0] as Protocol;
  }, TIMEOUT_MS);
  const query = "Where does the cat sleep?";
  const filter = { source: "mail" };

  /** Shows what each call finds by the filter, by its texts. */
  async function found({ call, texts }: Awaited<ReturnType<typeof accountAt>>, more: JsonObject = {}) {
    const [cosine, hybrid] = await Promise.all(
      ["COSINE", "HYBRID"].map((mode) => texts("Recall", { query, filter, mode, ...more })),
    );
    const listed = await texts("ListMemories", { filter, order: "OLDEST_FIRST", ...more });
    const dry = await call("DeleteMemories", { filter, dry_run: true, ...more });
    expect(cosine?.toSorted()).toEqual(listed.toSorted());
    expect(hybrid?.toSorted()).toEqual(listed.toSorted());
    expect((await call("CountMemories", { filter, ...more })).memories).toBe(listed.length);
    expect((dry.samples as JsonObject[]).map(({ text }) => text)).toEqual(listed);
    expect(dry.matched).toBe(listed.length);
    return listed;
  }

  it("finds a memory by its present version alone, from the moment it is updated", async () => {
    const account = await accountAt(protocol);
    const { call, store } = account;
    const id = await store("The cat sleeps on the radiator.", { source: "chat" });
    await store("A kitten naps.", { source: "mail" });
    expect(await found(account)).toEqual(["A kitten naps."]);
    await call("UpdateMemory", { id, metadata: { source: "mail" }, update_mask: "metadata.source" });
    expect(await found(account)).toEqual(["A kitten naps.", "The cat sleeps on the radiator."]);
    await call("UpdateMemory", { id, text: "The cat sleeps on the mat." });
    expect(await found(account)).toEqual(["A kitten naps.", "The cat sleeps on the mat."]);
    expect(await account.texts("ListMemories", { filter: { $id: id } })).toEqual([
      "The cat sleeps on the mat.",
    ]);
    await call("UpdateMemory", { id, metadata: { source: "chat" }, update_mask: "metadata.source" });
    expect(await found(account)).toEqual(["A kitten naps."]);
    const { updated_at } = (await call("GetMemory", { id })).memory as { updated_at: string };
    expect(await account.count({ $updated_at: { $gte: updated_at } })).toBe(1);
  });

  it("finds a memory by your own id, also when it is replaced", async () => {
    const { call, texts } = await accountAt(protocol);
    const own = { $external_id: { $prefix: "mail/" } };
    await call("Store", { text: "one", external_id: "mail/1" });
    await call("Store", { text: "two", external_id: "chat/1" });
    expect(await texts("ListMemories", { filter: own })).toEqual(["one"]);
    await call("Store", { text: "one again", external_id: "mail/1", on_conflict: "REPLACE" });
    expect(await texts("Recall", { query: "one", filter: own })).toEqual(["one again"]);
  });

  it("leaves superseded memories alone unless they are asked for", async () => {
    const account = await accountAt(protocol);
    const { call, store, count } = account;
    const old = await store("The cat sleeps on the radiator.", { source: "mail" });
    await store("A kitten naps.", { source: "mail" });
    expect((await found(account)).length).toBe(2);
    const { id: newer } = await call("Store", { text: "The cat sleeps on the mat.", supersedes: [old] });
    expect(await found(account)).toEqual(["A kitten naps."]);
    const both = ["The cat sleeps on the radiator.", "A kitten naps."];
    expect(await found(account, { include_superseded: true })).toEqual(both);
    const listed = await call("ListMemories", { filter, include_superseded: true, order: "OLDEST_FIRST" });
    expect((listed.memories as JsonObject[])[0]?.superseded_by).toBe(newer);
    const recalled = await call("Recall", { query, filter, include_superseded: true, top_k: 1 });
    expect((recalled.results as JsonObject[])[0]?.superseded_by).toBe(newer);
    expect(await call("DeleteMemories", { filter })).toMatchObject({ deleted: 1, more: false });
    expect(await found(account, { include_superseded: true })).toEqual([both[0]]);
    expect(((await call("GetMemory", { id: old })).memory as JsonObject).superseded_by).toBe(newer);
    const all = { filter, include_superseded: true };
    expect(await call("DeleteMemories", all)).toMatchObject({ deleted: 1, more: false });
    expect(await count()).toBe(1);
    expect((await protocol.call("GetMemory", { namespace, id: old }, { key: account.key })).code).toBe(
      "not_found",
    );
  });

  it("does not find what has expired", async () => {
    const account = await accountAt(protocol);
    const { call, store } = account;
    await store("A kitten naps.", { source: "mail" });
    await call("Store", { text: "The cat sleeps.", metadata: { source: "mail" }, ttl: "1.5s" });
    expect((await found(account)).length).toBe(2);
    await new Promise((resolve) => setTimeout(resolve, 1_600));
    expect(await found(account)).toEqual(["A kitten naps."]);
    expect(await found(account, { include_superseded: true })).toEqual(["A kitten naps."]);
  });

  it("that no memory matches says how many there are", async () => {
    const { call, store } = await accountAt(protocol);
    await store("The cat sleeps.", { source: "mail" });
    const old = await store("A kitten naps.", { source: "mail" });
    await call("Store", { text: "A kitten sleeps.", supersedes: [old] });
    const none: JsonObject[] = [
      { filter: { source: "post" } },
      { before: "2020-01-01T00:00:00Z" },
      { after: "2100-01-01T00:00:00Z" },
      { filter, min_score: 1 },
    ];
    for (const narrow of none) {
      expect(await call("Recall", { query, ...narrow }), JSON.stringify(narrow)).toMatchObject({
        results: [],
        considered: 2,
      });
    }
    const one = { query, filter, include_superseded: true };
    expect(await call("Recall", { ...one, min_score: 1 })).toMatchObject({ results: [], considered: 3 });
    const some = await call("Recall", one);
    expect(some).not.toHaveProperty("considered");
    expect((some.results as JsonObject[])[0]).toHaveProperty("etag");
    const plain = await call("Recall", { query });
    expect((plain.results as JsonObject[])[0]).not.toHaveProperty("etag");
  });
});

describe("a delete by a filter of many", () => {
  it(
    "answers that more is left after 256",
    async () => {
      const { call, count } = await accountAt(protocolsOf((await sharedServer()).url)[0] as Protocol);
      const memories = Array.from({ length: 150 }, (_, i) => ({
        text: `text ${i}`,
        metadata: { all: true },
      }));
      for (let batch = 0; batch < 2; batch++) await call("StoreBatch", { memories });
      const filter = { all: true };
      expect(await call("DeleteMemories", { filter })).toMatchObject({ deleted: 256, more: true });
      expect(await count()).toBe(44);
      expect(await call("DeleteMemories", { filter })).toMatchObject({ deleted: 44, more: false });
    },
    TIMEOUT_MS,
  );
});
