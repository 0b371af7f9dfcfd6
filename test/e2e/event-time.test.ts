import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, onTestFinished } from "vitest";
import { FORMATS } from "../../cli/import/formats.js";
import { importFile } from "../../cli/import/import-memories.js";
import { Recalld } from "../../clients/typescript/src/index.js";
import { DATABASES } from "../support/databases.js";
import { onSharedServer, openAccountAt } from "../support/on-database.js";
import type { Protocol, RpcName } from "../support/protocols.js";

const namespace = "n";
const MARCH = "2016-03-05T09:30:00.123Z";
const APRIL = "2016-04-01T00:00:00Z";
const BEFORE_1970 = "1066-10-14T09:00:00Z";
const [NEWEST, OLDEST] = ["EVENT_TIME_NEWEST_FIRST", "EVENT_TIME_OLDEST_FIRST"];

/** What happened ten years ago, in February, March and April. */
const HISTORY = [
  { text: "I hiked in the Alps.", time: "2016-02-14T09:30:00Z" },
  { text: "I painted the kitchen.", time: "2016-03-05T09:30:00Z" },
  { text: "I sold the car.", time: "2016-04-20T09:30:00Z" },
];
const secondsOf = (time: string) => Date.parse(time) / 1000;

/** Writes a history as each program does. */
const SOURCES: Readonly<Record<string, (history: typeof HISTORY) => string>> = {
  mem0: (history) =>
    JSON.stringify({
      results: history.map(({ text, time }, i) => ({ id: `${i}`, memory: text, created_at: time })),
    }),
  chroma: (history) =>
    JSON.stringify({
      ids: history.map((_, i) => `${i}`),
      documents: history.map(({ text }) => text),
      metadatas: history.map(({ time }) => ({ timestamp: secondsOf(time) })),
    }),
  qdrant: (history) =>
    JSON.stringify({
      result: { points: history.map(({ text, time }, id) => ({ id, payload: { text, created_at: time } })) },
    }),
  supermemory: (history) =>
    JSON.stringify({
      memories: history.map(({ text, time }, i) => ({ id: `${i}`, content: text, createdAt: time })),
    }),
  claude: (history) =>
    JSON.stringify([
      { chat_messages: history.map(({ text, time }, i) => ({ uuid: `${i}`, text, created_at: time })) },
    ]),
  chatgpt: (history) => {
    const nodes = history.map(({ text, time }, i) => {
      const content = { parts: [text] };
      const message = { id: `${i}`, author: { role: "user" }, content, create_time: secondsOf(time) };
      return [`${i}`, { message, parent: i === 0 ? null : `${i - 1}` }];
    });
    return JSON.stringify([{ mapping: Object.fromEntries(nodes), current_node: "2" }]);
  },
  jsonl: (history) => history.map(({ text, time }) => JSON.stringify({ text, event_time: time })).join("\n"),
};

async function accountAt(protocol: Protocol) {
  const { key, call: callAnywhere } = await openAccountAt(protocol);
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
  return { key, call, store, textsOf, get, pages };
}

describe.each(DATABASES)("event times on $name", (database) => {
  const here = onSharedServer(database);
  const { test } = here;

  test("a memory has the event time that it was stored with, and none if it had none", async () => {
    const { call, store, get } = await accountAt(here.protocol);
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
    const { call, store, get } = await accountAt(here.protocol);
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
    const { store, textsOf, call } = await accountAt(here.protocol);
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
    const { call, store, pages } = await accountAt(here.protocol);
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
    const { call, store } = await accountAt(here.protocol);
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
    const { key } = await openAccountAt(here.protocol);
    const memory = (event_time: string) => ({ text: "a", event_time });
    for (const [rpc, asked] of [
      ["Store", memory],
      ["StoreBatch", (event_time: string) => ({ memories: [memory(event_time)] })],
    ] as const) {
      const ask = (event_time: string) => {
        const header = { "idempotency-key": `event ${rpc}` };
        return here.protocol.call(rpc, { namespace, ...asked(event_time) }, { key, header });
      };
      const [first, again, other] = [await ask(MARCH), await ask(MARCH), await ask(APRIL)];
      expect(first.code).toBe("ok");
      expect(again.body).toEqual(first.body);
      expect(other.code).toBe("already_exists");
    }
  });

  test("age counts in a recall that asks for it, and hides nothing", async () => {
    const { call, store } = await accountAt(here.protocol);
    const ids = new Map<string, string>();
    for (const time of [BEFORE_1970, MARCH, APRIL, "2016-04-11T00:00:00Z", "2100-01-01T00:00:00Z"]) {
      ids.set(await store("I had tea with Ana.", time), time);
    }
    const other = await store("The invoice is paid.", "2100-01-01T00:00:00Z");
    const recency = { half_life: "864000s", weight: 0.2, reference_time: "2016-04-11T00:00:00Z" };
    for (const mode of ["COSINE", "HYBRID"]) {
      const query = { query: "tea with Ana", mode, explain: true, top_k: 6 };
      const plain = (await call("Recall", query)).results as JsonObject[];
      expect(plain.map(({ id }) => id)).toEqual([...ids.keys(), other]);
      expect(plain[0]?.explanation).not.toHaveProperty("recency");
      const results = (await call("Recall", { ...query, recency })).results as JsonObject[];
      const found = results.map(({ id, score, explanation }) => {
        const { rank, recency: added } = explanation as { rank: number; recency: number };
        return { time: ids.get(String(id)), score, rank, added };
      });
      const [tea] = plain as [JsonObject];
      expect(found.map(({ time }) => time)).toEqual([
        // What is to come has the age 0, as what happens at that time; of these the older memory comes first.
        ...["2016-04-11T00:00:00Z", "2100-01-01T00:00:00Z", APRIL, MARCH, BEFORE_1970],
        undefined,
      ]);
      const halfLives = [0, 0, 1, 3.66, 30_000, 0];
      for (const [i, { added, rank, score }] of found.entries()) {
        expect(added).toBeCloseTo(0.2 * 2 ** -(halfLives[i] as number), 3);
        if (i < 5) expect(score).toBeCloseTo(tea.score as number, 6);
        expect(rank).toBeGreaterThanOrEqual((score as number) + added - 1e-9);
      }
      const floor = { ...query, recency: { ...recency, weight: 0.5 }, min_score: 0.6 };
      const high = (await call("Recall", floor)).results as JsonObject[];
      expect(high.map(({ id }) => id)).not.toContain(other);
      expect(high).toHaveLength(5);
    }
  });

  test("histories of ten years ago, imported from each source, are found by what happened in March", async () => {
    const { key, call } = await accountAt(here.protocol);
    const server = new Recalld({ apiKey: key, baseUrl: here.server.url });
    const folder = await mkdtemp(join(tmpdir(), "recalld-event-time-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const march = { after: "2016-02-29T23:59:59.999Z", before: "2016-04-01T00:00:00Z" };
    const foundIn = async (namespace: string) => {
      const { results } = await call("Recall", { namespace, query: "What did I do in March?", ...march });
      return (results as JsonObject[]).map(({ text, event_time }) => [text, event_time]);
    };
    const importAs = async (from: string, content: string) => {
      const file = join(folder, from);
      await writeFile(file, content);
      const report = await importFile({ file, from, namespace: from, server, show: () => {} });
      expect(report).toMatchObject({ stored: 3, skipped: 0, refused: 0 });
    };
    for (const [from, fileOf] of Object.entries(SOURCES)) {
      await importAs(from, fileOf(HISTORY));
      expect(await foundIn(from)).toEqual([["I painted the kitchen.", "2016-03-05T09:30:00Z"]]);
    }
    expect(Object.keys(SOURCES).sort()).toEqual(
      // The file of server-memory has no times; an account's is made of exports of namespaces.
      FORMATS.filter((name) => !["recalld", "recalld-account", "server-memory"].includes(name)).sort(),
    );
    let exported = "";
    for await (const line of server.export({ namespace: "claude" }).lines()) exported += `${line}\n`;
    await importAs("recalld", exported);
    expect(await foundIn("recalld")).toEqual(await foundIn("claude"));
  });

  test("texts that are long end a page early, and the next page goes on there", async () => {
    const { store, pages } = await accountAt(here.protocol);
    const long = `a ${" ".repeat(65_000)} b`;
    for (let i = 0; i < 20; i++) await store(long, MARCH);
    expect((await pages({ order: OLDEST })).map(({ length }) => length)).toEqual([17, 3]);
  });
});
