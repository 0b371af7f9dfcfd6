import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, it } from "vitest";
import { tokenOf } from "../../src/memory/requests/page.js";
import { DATABASES } from "../support/databases.js";
import { IMPATIENT, LONG_READ } from "../support/failing.js";
import { onDatabase, openAccountAt, restart } from "../support/on-database.js";
import { type Protocol, protocolsOf } from "../support/protocols.js";
import { sharedServer, type TestServer } from "../support/server.js";

const TIMEOUT_MS = 60_000;
const FREE_CALLS = "1000000";
const PROTOCOLS = protocolsOf("http://127.0.0.1:1").map(({ name }) => name);

async function accountAt(protocol: Protocol) {
  const { key, call } = await openAccountAt(protocol);
  const store = async (namespace: string, text: string, metadata: JsonObject = {}) =>
    String((await call("Store", { namespace, text, metadata })).id);
  /** Reads all pages of a list, one after another. */
  const pages = async (rpc: "ListMemories" | "ListNamespaces", request: JsonObject) => {
    const all: JsonObject[][] = [];
    for (let page_token = ""; ; ) {
      const page = await call(rpc, { ...request, page_token });
      all.push((page.memories ?? page.namespaces) as JsonObject[]);
      page_token = String(page.next_page_token);
      if (page_token === "") return all;
    }
  };
  return { key, call, store, pages };
}

const texts = (pages: readonly JsonObject[][]) => pages.map((page) => page.map(({ text }) => text));
const today = () => new Date().toISOString().slice(0, 10);

describe.each(DATABASES)("lists on $name", (database) => {
  const here = onDatabase(database, { FREE_CALLS });
  const { test } = here;

  test("pages through memories, the newest first, past what was deleted", async () => {
    const { call, store, pages } = await accountAt(here.protocol);
    const ids: string[] = [];
    for (let i = 0; i < 12; i++) ids.push(await store("n", `text ${i}`, { i }));
    for (const i of [11, 5, 4, 3, 0]) await call("DeleteMemory", { namespace: "n", id: ids[i] as string });
    expect(texts(await pages("ListMemories", { namespace: "n", page_size: 3 }))).toEqual([
      ["text 10", "text 9", "text 8"],
      ["text 7", "text 6", "text 2"],
      ["text 1"],
    ]);
    const { memories } = await call("ListMemories", { namespace: "n", page_size: 1 });
    expect(memories).toEqual([
      {
        id: ids[10],
        text: "text 10",
        metadata: { i: 10 },
        tokens: 2,
        created_at: expect.any(String),
        updated_at: expect.any(String),
        etag: expect.any(String),
      },
    ]);
    expect(await call("ListMemories", { namespace: "none" })).toEqual({
      memories: [],
      namespace: "none",
      next_page_token: "",
    });
  });

  test("does not miss or repeat a memory while others are stored and deleted", async () => {
    const { call, store } = await accountAt(here.protocol);
    const ids: string[] = [];
    for (let i = 0; i < 6; i++) ids.push(await store("n", `text ${i}`));
    const first = await call("ListMemories", { namespace: "n", page_size: 3 });
    await store("n", "late");
    await call("DeleteMemory", { namespace: "n", id: ids[3] as string });
    const page_token = first.next_page_token as string;
    const second = await call("ListMemories", { namespace: "n", page_token });
    expect(texts([second.memories as JsonObject[]])).toEqual([["text 2", "text 1", "text 0"]]);
  });

  test("ends a page early when its texts are long", async () => {
    const { store, pages } = await accountAt(here.protocol);
    const long = `a ${" ".repeat(65_000)} b`;
    for (let i = 0; i < 20; i++) await store("n", long);
    const counts = (await pages("ListMemories", { namespace: "n" })).map(({ length }) => length);
    expect(counts).toEqual([17, 3]);
  });

  test("lists namespaces with what they hold, in order, without those that were dropped", async () => {
    const { call, store, pages } = await accountAt(here.protocol);
    for (const namespace of ["b", "a", "ä", "dropped", "empty"]) await store(namespace, "wörd", { a: 1 });
    await store("a", "more");
    await call("DeleteNamespace", { namespace: "dropped", force: true });
    const { memories } = await call("ListMemories", { namespace: "empty" });
    const [only] = memories as JsonObject[];
    await call("DeleteMemory", { namespace: "empty", id: only?.id as string });
    await call("Recall", { namespace: "never", query: "a" });
    const listed = await pages("ListNamespaces", { page_size: 2 });
    expect(listed).toEqual([
      [
        { namespace: "a", memories: 2, bytes: "18" },
        { namespace: "b", memories: 1, bytes: "12" },
      ],
      [
        { namespace: "empty", memories: 0, bytes: "0" },
        { namespace: "ä", memories: 1, bytes: "12" },
      ],
    ]);
  });

  test("refuses the token of a namespace that was dropped", async () => {
    const { key, call, store } = await accountAt(here.protocol);
    for (const text of ["a", "b"]) await store("n", text);
    const { next_page_token: page_token } = await call("ListMemories", { namespace: "n", page_size: 1 });
    await call("DeleteNamespace", { namespace: "n", force: true });
    const request = { namespace: "n", page_token: page_token as string };
    const outcome = { code: "invalid_argument", fields: ["page_token"] };
    expect(await here.protocol.call("ListMemories", request, { key })).toMatchObject(outcome);
    await store("n", "c");
    expect(await here.protocol.call("ListMemories", request, { key })).toMatchObject(outcome);
  });

  test("counts what was used by day, of successes only, and keeps it over a restart", async () => {
    const { key, call, store } = await accountAt(here.protocol);
    await store("n", "three little words");
    await store("n", "one");
    await call("Recall", { namespace: "n", query: "how many words" });
    await here.protocol.call("Recall", { namespace: "n", query: "" }, { key });
    await here.protocol.call("Store", { namespace: "n", text: LONG_READ }, { key, header: IMPATIENT });
    const none = { stores: 0, recalls: 0, tokens_stored: 0, tokens_queried: 0 };
    const day = { date: today(), stores: 2, recalls: 1, tokens_stored: 4, tokens_queried: 3 };
    const usage = async (days?: number) => {
      const { body } = await here.protocol.call("GetUsage", days === undefined ? {} : { days }, { key });
      return body.days as JsonObject[];
    };
    const [now] = await usage(1);
    expect(now).toMatchObject(day);
    const { date, ...used } = day;
    // The calls may have come in the last second of an hour.
    const hours = now?.hours as JsonObject[];
    if (hours.length === 1) expect(hours).toEqual([{ hour: expect.any(Number), ...used }]);
    else expect(hours).toHaveLength(2);
    await here.server.stop();
    await restart(here, { FREE_CALLS });
    const all = await usage();
    expect(all).toHaveLength(30);
    expect(all.at(-1)).toEqual({ ...day, hours: [] });
    expect(all.slice(0, -1)).toMatchObject(Array.from({ length: 29 }, () => none));
    expect(await usage(90)).toHaveLength(90);
  });

  test("counts a replayed store once", async () => {
    const { key, call } = await accountAt(here.protocol);
    const request = { namespace: "n", text: "once" };
    for (let i = 0; i < 3; i++)
      await here.protocol.call("Store", request, { key, header: { "idempotency-key": "k" } });
    expect((await call("GetUsage", { days: 1 })).days).toMatchObject([{ stores: 1, tokens_stored: 1 }]);
  });
});

describe("lists", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await sharedServer();
  }, TIMEOUT_MS);

  describe.each(PROTOCOLS)("through %s", (name) => {
    const protocol = () => protocolsOf(server.url).find((each) => each.name === name) as Protocol;
    let account: Awaited<ReturnType<typeof accountAt>>;
    beforeAll(async () => {
      account = await accountAt(protocol());
      for (const text of ["a", "b", "c"]) await account.store("n", text);
      await account.store("o", "d");
    });

    it("come page by page", async () => {
      const { pages } = account;
      expect(texts(await pages("ListMemories", { namespace: "n", page_size: 2 }))).toEqual([
        ["c", "b"],
        ["a"],
      ]);
      expect(await pages("ListNamespaces", { page_size: 1 })).toEqual([
        [{ namespace: "n", memories: 3, bytes: "9" }],
        [{ namespace: "o", memories: 1, bytes: "3" }],
      ]);
    });

    it("refuse a size outside 1 to 100", async () => {
      for (const page_size of [0, -1, 101]) {
        for (const rpc of ["ListMemories", "ListNamespaces"] as const) {
          const request = rpc === "ListMemories" ? { namespace: "n", page_size } : { page_size };
          const outcome = await protocol().call(rpc, request, { key: account.key });
          expect(outcome).toMatchObject({ code: "invalid_argument", fields: ["page_size"] });
        }
      }
    });

    it("refuse tokens that they did not give", async () => {
      const { call, key } = account;
      const ofO = tokenOf(["memories", "0".repeat(20), "2"]);
      const { next_page_token } = await call("ListMemories", { namespace: "n", page_size: 1 });
      const own = String(next_page_token);
      const [, logId = ""] = JSON.parse(Buffer.from(own, "base64url").toString()) as string[];
      const bad = ["x", "%%%", `${own}=`, ` ${own}`, own.slice(0, -2), ofO, tokenOf(["namespaces", "n"])];
      const wrong = ["0", "-1", "1e3", "", "9".repeat(16)].map((at) => tokenOf(["memories", logId, at]));
      for (const page_token of [...bad, ...wrong]) {
        const outcome = await protocol().call("ListMemories", { namespace: "n", page_token }, { key });
        expect(outcome, page_token).toMatchObject({ code: "invalid_argument", fields: ["page_token"] });
      }
      const names = ["n".repeat(8_000), "a\nb", "\ud800", ""].map((name) => tokenOf(["namespaces", name]));
      for (const page_token of ["x", own, ...names]) {
        const outcome = await protocol().call("ListNamespaces", { page_token }, { key });
        expect(outcome).toMatchObject({ code: "invalid_argument", fields: ["page_token"] });
      }
    });

    it("show an account nothing of another's", async () => {
      const other = await accountAt(protocol());
      const { next_page_token } = await account.call("ListMemories", { namespace: "n", page_size: 1 });
      expect((await other.call("ListNamespaces")).namespaces).toEqual([]);
      expect((await other.call("ListMemories", { namespace: "n" })).memories).toEqual([]);
      const request = { namespace: "n", page_token: next_page_token as string };
      const outcome = await protocol().call("ListMemories", request, { key: other.key });
      expect(outcome).toMatchObject({ code: "invalid_argument", fields: ["page_token"] });
    });

    it("count days", async () => {
      const { days } = await account.call("GetUsage", { days: 2 });
      expect(days).toMatchObject([{ stores: 0 }, { date: today(), stores: 4 }]);
    });
  });
});
