import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect } from "vitest";
import { DATABASES } from "../support/databases.js";
import type { Door, RpcName } from "../support/doors.js";
import { onDatabase, openAccountAt } from "../support/on-database.js";

const namespace = "n";
const MARCH = "2016-03-05T09:30:00.123Z";
const APRIL = "2016-04-01T00:00:00Z";
const BEFORE_1970 = "1066-10-14T09:00:00Z";
const [NEWEST, OLDEST] = ["EVENT_TIME_NEWEST_FIRST", "EVENT_TIME_OLDEST_FIRST"];

async function accountAt(door: Door) {
  const { call: callAnywhere } = await openAccountAt(door);
  const call = (rpc: RpcName, request: JsonObject = {}) => callAnywhere(rpc, { namespace, ...request });
  const store = async (text: string, event_time?: string, more: JsonObject = {}) =>
    String((await call("Store", { text, ...(event_time && { event_time }), ...more })).id);
  const textsOf = async (rpc: "Recall" | "ListMemories", request: JsonObject) => {
    const body = await call(rpc, request);
    return ((body.results ?? body.memories) as JsonObject[]).map(({ text }) => text);
  };
  const get = async (id: string) => (await call("GetMemory", { id })).memory as JsonObject;
  /** Reads all pages of a list, one after another. */
  const pages = async (request: JsonObject) => {
    const all: unknown[][] = [];
    for (let page_token = ""; ; ) {
      const page = await call("ListMemories", { ...request, page_token });
      all.push((page.memories as JsonObject[]).map(({ text }) => text));
      page_token = String(page.next_page_token);
      if (page_token === "") return all;
    }
  };
  return { call, store, textsOf, get, pages };
}

describe.each(DATABASES)("event times on $name", (database) => {
  const here = onDatabase(database, { FREE_CALLS: "1000000" });
  const { test } = here;

  test("a memory has the event time that it was stored with, and none if it had none", async () => {
    const { call, store, get } = await accountAt(here.door);
    const [ana, now] = [await store("Ana moved to Lisbon.", MARCH), await store("Ana likes tea.")];
    expect(await get(ana)).toMatchObject({ event_time: MARCH });
    expect(await get(now)).not.toHaveProperty("event_time");
    const { results } = await call("Recall", { query: "Where did Ana move?", top_k: 2 });
    const [first, second] = results as JsonObject[];
    expect(first).toMatchObject({ id: ana, event_time: MARCH });
    expect(second).not.toHaveProperty("event_time");
    const batch = [{ text: "Battle of Hastings.", event_time: BEFORE_1970 }, { text: "No time." }];
    const stored = (await call("StoreBatch", { memories: batch })).results as JsonObject[];
    const ids = stored.map((each) => String((each.stored as JsonObject).id));
    const { memories } = await call("GetMemories", { ids });
    expect((memories as JsonObject[]).map(({ event_time }) => event_time)).toEqual([BEFORE_1970, undefined]);
  });

  test("an update sets the event time, leaves it as it is, and removes it", async () => {
    const { call, store, get } = await accountAt(here.door);
    const id = await store("Ana moved to Lisbon.");
    await call("UpdateMemory", { id, event_time: MARCH });
    expect(await get(id)).toMatchObject({ text: "Ana moved to Lisbon.", event_time: MARCH });
    await call("UpdateMemory", { id, text: "Ana moved to Porto." });
    await call("UpdateMemory", { id, metadata: { a: 1 } });
    expect(await get(id)).toMatchObject({ text: "Ana moved to Porto.", event_time: MARCH });
    await call("UpdateMemory", { id, update_mask: "event_time" });
    expect(await get(id)).not.toHaveProperty("event_time");
    await call("Store", { text: "Ana.", external_id: "ana", event_time: APRIL });
    const replaced = await call("Store", { text: "Ana!", external_id: "ana", on_conflict: "REPLACE" });
    expect(await get(String(replaced.id))).not.toHaveProperty("event_time");
  });

  test("what happened in March is found by after, before and filters, whenever it was stored", async () => {
    const { store, textsOf, call } = await accountAt(here.door);
    await store("I hiked in the Alps.", "2016-02-29T23:59:59.999Z");
    await store("I painted the kitchen.", MARCH);
    await store("I learned to sail.", "2016-03-31T23:59:59Z");
    await store("I sold the car.", APRIL);
    await store("I bought a bicycle.");
    const march = { after: "2016-02-29T23:59:59.999Z", before: APRIL };
    for (const mode of ["COSINE", "HYBRID"]) {
      const found = await textsOf("Recall", { query: "What did I do in March?", mode, ...march });
      expect(found.sort()).toEqual(["I learned to sail.", "I painted the kitchen."]);
    }
    expect(await textsOf("Recall", { query: "bicycle", after: "2026-01-01T00:00:00Z" })).toEqual([
      "I bought a bicycle.",
    ]);
    const filter = { $event_time: { $gte: MARCH, $lt: APRIL } };
    expect((await call("CountMemories", { filter })).memories).toBe(2);
    expect((await call("CountMemories", { filter: { $created_at: { $lt: APRIL } } })).memories).toBe(0);
  });

  test("lists by event time, page by page, past what was deleted, superseded or does not match", async () => {
    const { call, store, pages } = await accountAt(here.door);
    const times = [APRIL, BEFORE_1970, undefined, MARCH, MARCH, "2040-01-01T00:00:00Z", APRIL, MARCH];
    const ids: string[] = [];
    for (const [i, time] of times.entries()) ids.push(await store(`text ${i}`, time, { metadata: { i } }));
    const all = ["text 5", "text 2", "text 6", "text 0", "text 7", "text 4", "text 3", "text 1"];
    expect((await pages({ order: NEWEST, page_size: 3 })).flat()).toEqual(all);
    expect((await pages({ order: NEWEST, page_size: 3 })).map(({ length }) => length)).toEqual([3, 3, 2]);
    expect((await pages({ order: OLDEST, page_size: 8 })).flat()).toEqual(all.toReversed());
    const filter = { i: { $lt: 4 } };
    expect(await pages({ order: OLDEST, page_size: 2, filter })).toEqual([
      ["text 1", "text 3"],
      ["text 0", "text 2"],
    ]);
    await call("DeleteMemory", { id: ids[6] as string });
    await call("UpdateMemory", { id: ids[0] as string, event_time: "2041-01-01T00:00:00Z" });
    await store("text 8", MARCH, { supersedes: [ids[4] as string] });
    const left = ["text 0", "text 5", "text 2", "text 8", "text 7", "text 3", "text 1"];
    expect((await pages({ order: NEWEST, page_size: 2 })).flat()).toEqual(left);
    const superseded = await pages({ order: NEWEST, page_size: 100, include_superseded: true });
    expect(superseded.flat()).toEqual(left.toSpliced(5, 0, "text 4"));
    expect(await pages({ order: NEWEST, namespace: "none" })).toEqual([[]]);
  });

  test("a page token is refused in another order, with another filter, and where it was not given", async () => {
    const { call, store } = await accountAt(here.door);
    for (const text of ["a", "b", "c"]) await store(text, MARCH);
    await call("Store", { namespace: "other", text: "d" });
    const list = { order: NEWEST as string, page_size: 1 };
    const page_token = String((await call("ListMemories", list)).next_page_token);
    for (const other of [
      { order: OLDEST as string },
      { order: "NEWEST_FIRST" },
      { filter: { a: 1 } },
      { namespace: "other" },
      { namespace: "none" },
      { page_token: page_token.slice(0, -2) },
    ]) {
      const request = { namespace, ...list, page_token, ...other };
      await expect(call("ListMemories", request)).rejects.toThrow(/page_token/);
    }
  });

  test("the same key stores once, and not what happened at another time", async () => {
    const { key } = await openAccountAt(here.door);
    const memory = (event_time: string) => ({ text: "a", event_time });
    for (const [rpc, asked] of [
      ["Store", memory],
      ["StoreBatch", (event_time: string) => ({ memories: [memory(event_time)] })],
    ] as const) {
      const ask = (event_time: string) => {
        const header = { "idempotency-key": `event ${rpc}` };
        return here.door.call(rpc, { namespace, ...asked(event_time) }, { key, header });
      };
      const [first, again, other] = [await ask(MARCH), await ask(MARCH), await ask(APRIL)];
      expect(first.code).toBe("ok");
      expect(again.body).toEqual(first.body);
      expect(other.code).toBe("already_exists");
    }
  });

  test("texts that are long end a page early, and the next page goes on there", async () => {
    const { store, pages } = await accountAt(here.door);
    const long = `a ${" ".repeat(65_000)} b`;
    for (let i = 0; i < 20; i++) await store(long, MARCH);
    expect((await pages({ order: OLDEST })).map(({ length }) => length)).toEqual([17, 3]);
  });
});
