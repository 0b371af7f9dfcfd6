import { Embeddings } from "@langchain/core/embeddings";
import { AsyncBatchedStore, type BaseStore, InMemoryStore, type Item } from "@langchain/langgraph-checkpoint";
import { beforeAll, describe, expect, test } from "vitest";
import { RecalldStore } from "../../clients/typescript/src/adapters/langgraph.js";
import { Recalld } from "../../clients/typescript/src/index.js";
import { sharedServer, type TestServer } from "../support/server.js";
import { signUp } from "./sign-up.js";

let server: TestServer;
let recalld: Recalld;

beforeAll(async () => {
  server = await sharedServer();
  recalld = new Recalld({ apiKey: await signUp(server.url), baseUrl: server.url });
}, 60_000);

/** The server's own vectors, so that InMemoryStore has the scores that recalld must have. */
class ServersVectors extends Embeddings {
  static #asked = 0;

  async embedDocuments(texts: string[]): Promise<number[][]> {
    const namespace = `vectors ${ServersVectors.#asked++}`;
    await recalld.storeBatch({ namespace, memories: texts.map((text) => ({ text })) });
    const vectors = new Map<string, number[]>();
    for await (const { text, vectors: own = [] } of recalld.export({ namespace, includeVectors: true }))
      vectors.set(text, numbers(own[0]));
    return texts.map((text) => vectors.get(text) as number[]);
  }

  async embedQuery(text: string): Promise<number[]> {
    return (await this.embedDocuments([text]))[0] as number[];
  }
}

/** Reads a vector as exports have it. */
function numbers(base64 = ""): number[] {
  const bytes = Buffer.from(base64, "base64");
  return Array.from({ length: bytes.length / 4 }, (_, n) => bytes.readFloatLE(4 * n));
}

let stores = 0;
const fields = ["text"];
const ours = (options: { fields?: string[] } = { fields }) =>
  new RecalldStore(recalld, { root: `store ${stores++}`, ...options });
const theirs = () => new InMemoryStore({ index: { dims: 384, embeddings: new ServersVectors({}), fields } });

/**
 * Leaves out what differs between any two runs, and digits that two ways to add have different. recalld has
 * no scores below 0.
 */
function plain(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(plain);
  if (typeof answer !== "object" || answer === null || !("key" in answer)) return answer;
  const { createdAt, updatedAt, score, ...item } = answer as Item & { score?: number };
  expect(updatedAt.getTime()).toBeGreaterThanOrEqual(createdAt.getTime());
  return { ...item, ...(score !== undefined && { score: Math.max(0, Math.round(score * 1_000)) / 1_000 }) };
}

type Step = (store: BaseStore) => Promise<unknown>;

/** Takes steps in a store. Returns what each came to. */
async function taken(store: BaseStore, steps: readonly Step[]): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const step of steps) {
    answers.push(
      await step(store).then(plain, (error: Error) => `${error.name}: ${error.message.slice(0, 20)}`),
    );
  }
  return answers;
}

const put =
  (namespace: string[], key: string, value: Record<string, unknown>, index?: false | string[]): Step =>
  (store) =>
    store.put(namespace, key, value, index);
const get =
  (namespace: string[], key: string): Step =>
  (store) =>
    store.get(namespace, key);
const drop =
  (namespace: string[], key: string): Step =>
  (store) =>
    store.delete(namespace, key);
const search =
  (namespace: string[], options?: Parameters<BaseStore["search"]>[1]): Step =>
  (store) =>
    store.search(namespace, options);
const list =
  (options?: Parameters<BaseStore["listNamespaces"]>[0]): Step =>
  (store) =>
    store.listNamespaces(options);

const people = [
  put(["people"], "ana", { text: "Ana is allergic to peanuts.", age: 31, city: "Rome", tall: true }),
  put(["people"], "ben", { text: "Ben plays the piano in a trio.", age: 45, city: "Oslo", tall: false }),
  put(["people"], "cleo", { text: "Cleo grows tomatoes.", age: 31, city: null }),
  put(["people"], "dan", { text: "Dan repairs old bicycles.", age: 9.5 }),
];
const wheres: Record<string, unknown>[] = [
  {},
  { city: "Rome" },
  { city: null },
  { city: undefined },
  { tall: true },
  { age: 31, city: "Rome" },
  { age: "31" },
  { age: { $eq: 31 } },
  { age: { $ne: 31 } },
  { city: { $ne: "Rome" } },
  { age: { $gt: 31 } },
  { age: { $gte: 31 } },
  { age: { $lt: 31 } },
  { age: { $lte: 31, $gt: 9.5 } },
  { city: { $in: ["Rome", "Oslo"] } },
  { city: { $nin: ["Rome"] } },
  { "no.such\\key": 1 },
];
const odd = [
  "a/b",
  "50%",
  "%2F",
  " spaces ",
  "tab\there",
  "Größe 😀",
  "..".replaceAll(".", "·"),
  "A",
  "a",
  "*",
];

const cases: Record<string, readonly Step[]> = {
  "an item is put, read, replaced and deleted": [
    get(["users", "42"], "k"),
    put(["users", "42"], "k", { text: "one" }),
    get(["users", "42"], "k"),
    put(["users", "42"], "k", { text: "two", more: [1] }),
    get(["users", "42"], "k"),
    get(["users"], "k"),
    get(["users", "42"], "K"),
    drop(["users", "42"], "k"),
    drop(["users", "42"], "k"),
    get(["users", "42"], "k"),
    search(["users"]),
  ],
  "a value comes back as it was": [
    put(["v"], "deep", { a: { b: { c: [1, "2", null, true, { d: [] }] } }, "x.y": 1, $z: 2, "": 3 }),
    put(["v"], "numbers", { zero: 0, half: -0.5, large: 2 ** 53 - 1, small: 5e-324 }),
    put(["v"], "texts", { empty: "", lines: "a\nb\u0000", ключ: "Größe 😀" }),
    put(["v"], "nothing", {}),
    ...["deep", "numbers", "texts", "nothing"].map((key) => get(["v"], key)),
  ],
  "labels and keys are any text": [
    (store) =>
      store.batch(odd.map((label) => ({ namespace: ["odd", label], key: label, value: { text: label } }))),
    (store) => store.batch(odd.map((label) => ({ namespace: ["odd", label], key: label }))),
    ...odd.map((label) => search(["odd", label])),
    get(["odd", "A"], "a"),
  ],
  "a namespace that cannot be is refused": [
    put([], "k", {}),
    put([""], "k", {}),
    put(["a.b"], "k", {}),
    put(["a:b"], "k", {}),
    put(["langgraph"], "k", {}),
    get([], "k"),
    get(["langgraph"], "k"),
    search(["a.b"]),
    drop([""], "k"),
    (store) => store.batch([{ namespace: ["a.b"], key: "k", value: { a: 1 } }]),
  ],
  "a search without a query filters and turns pages": [
    ...people,
    ...wheres.map((filter) => search(["people"], { filter })),
    search(["people"], { limit: 2 }),
    search(["people"], { limit: 2, offset: 2 }),
    search(["people"], { limit: 2, offset: 3 }),
    search(["people"], { offset: 4 }),
    search(["people"], { filter: { age: 31 }, limit: 1, offset: 1 }),
    search(["people"], { limit: 0 }),
    search(["nobody"]),
  ],
  "a search by meaning ranks, filters and turns pages": [
    ...people,
    search(["people"], { query: "Which foods are bad for Ana?", limit: 2 }),
    search(["people"], { query: "Who makes music?", limit: 1 }),
    search(["people"], { query: "Who makes music?", limit: 2, offset: 1 }),
    search(["people"], { query: "Who makes music?", limit: 5, offset: 3 }),
    search(["people"], { query: "Who makes music?", offset: 9 }),
    search(["people"], { query: "vegetables", filter: { age: { $lt: 40 } } }),
    search(["people"], { query: "vegetables", filter: { age: -1 } }),
    search([], { query: "Who makes music?", limit: 2 }),
    search(["nobody"], { query: "music" }),
    search(["people"], { query: "" }),
  ],
  "a query finds an item by the fields that are indexed, and the others come last": [
    put(["i"], "hidden", { text: "Ana is allergic to peanuts." }, false),
    put(["i"], "title", { text: "Lorem ipsum", title: "The trio has a pianist" }, ["title"]),
    put(["i"], "nested", { a: { list: [{ b: "Bicycles need oil" }] } }, ["a.list[*].b"]),
    put(["i"], "last", { list: ["x", "Tomatoes in July"] }, ["list[-1]"]),
    put(["i"], "other", { note: "No text at all" }),
    search(["i"], { query: "Who plays the piano?", limit: 1 }),
    search(["i"], { query: "repairing a bike", limit: 2 }),
    search(["i"], { query: "peanuts", limit: 4 }),
    get(["i"], "hidden"),
    put(["i"], "hidden", { text: "Ana is allergic to peanuts." }),
    search(["i"], { query: "peanuts", limit: 1 }),
  ],
  "a prefix takes in the namespaces below it": [
    put(["u", "1"], "a", { text: "Ana eats no nuts." }),
    put(["u", "1", "notes"], "b", { text: "Ben has a piano." }),
    put(["u", "10"], "c", { text: "Cleo has a garden." }),
    put(["u"], "d", { text: "Dan has a bicycle." }),
    put(["v"], "a", { text: "Eve has a boat." }),
    search(["u", "1"]),
    search(["u", "1"], { query: "music", limit: 1 }),
    search(["u"], { query: "plants" }),
    search(["v"], { query: "plants" }),
    search([], { query: "sailing", limit: 1 }),
    search(["u"], { filter: { text: { $ne: "Dan has a bicycle." } }, query: "riding" }),
  ],
  "namespaces are listed": [
    ...[["a"], ["a", "b"], ["a", "b", "c"], ["a", "d", "c"], ["e", "b"], ["e", "b", "c"]].map((path) =>
      put(path, "k", { text: path.join(" ") }),
    ),
    list(),
    list({ prefix: ["a"] }),
    list({ prefix: ["a", "*", "c"] }),
    list({ prefix: ["*", "b"] }),
    list({ suffix: ["c"] }),
    list({ suffix: ["b", "*"] }),
    list({ prefix: ["a"], suffix: ["c"] }),
    list({ maxDepth: 1 }),
    list({ maxDepth: 2, prefix: ["a"] }),
    list({ limit: 2 }),
    list({ limit: 2, offset: 4 }),
    list({ prefix: ["x"] }),
    list({ prefix: ["a.b"] }),
  ],
  "a batch reads what was there before it, and of two writes the last counts": [
    put(["b"], "old", { text: "old" }),
    (store) =>
      store.batch([
        { namespace: ["b"], key: "new", value: { text: "first" } },
        { namespace: ["b"], key: "new" },
        { namespace: ["b"], key: "old" },
        { namespacePrefix: ["b"], limit: 5 },
        { namespace: ["b"], key: "new", value: { text: "second" } },
        { namespace: ["b"], key: "old", value: null },
        { namespace: ["c"], key: "gone", value: { text: "x" } },
        { namespace: ["c"], key: "gone", value: null },
        { matchConditions: [{ matchType: "prefix", path: ["b"] }], limit: 5, offset: 0 },
        { namespace: ["none"], key: "old" },
      ]),
    get(["b"], "new"),
    get(["b"], "old"),
    get(["c"], "gone"),
    (store) => store.batch([]),
  ],
};

describe("LangGraph's store does what InMemoryStore does", () => {
  test.each(Object.entries(cases))("%s", async (_name, steps) => {
    const [own, reference] = await Promise.all([taken(ours(), steps), taken(theirs(), steps)]);
    expect(own).toEqual(reference);
  });

  test("batched by LangGraph itself", async () => {
    const store = new AsyncBatchedStore(ours());
    store.start();
    await Promise.all([store.put(["a"], "k", { text: "one" }), store.put(["b"], "k", { text: "two" })]);
    const got = await Promise.all([store.get(["a"], "k"), store.get(["b"], "k"), store.search(["a"])]);
    await store.stop();
    expect(got).toMatchObject([{ value: { text: "one" } }, { value: { text: "two" } }, [{ key: "k" }]]);
  });
});

describe("LangGraph's store over recalld", () => {
  test("keeps an item as a memory of a namespace that one can read", async () => {
    const store = new RecalldStore(recalld, { fields });
    await store.put(["users", "a/b"], "food", { text: "Ana eats no nuts.", source: "chat" });
    const pages = recalld.memories({ namespace: "langgraph/users/a%2Fb" }).pages();
    expect((await pages.next()).value?.memories[0]).toMatchObject({
      text: "Ana eats no nuts.",
      externalId: "food",
      metadata: { text: "Ana eats no nuts.", source: "chat" },
    });
    await recalld.store({ namespace: "langgraph/users/a%2Fb", text: "Nobody's item." });
    await recalld.store({ namespace: "langgraph/50%", text: "Nobody's namespace.", externalId: "x" });
    expect(await store.search([])).toHaveLength(1);
    expect(await store.search([], { query: "nobody" })).toHaveLength(1);
    expect(await store.listNamespaces()).toEqual([["users", "a/b"]]);
    const bare = new RecalldStore(recalld, { root: "" });
    expect(await bare.get(["langgraph", "users", "a/b"], "food")).toMatchObject({ key: "food" });
  });

  // The Python client's test has the same table, so that both can share a store.
  test("names namespaces and keys as the other language's store does", async () => {
    const named = {
      "a/b": ["a%2Fb", "a/b"],
      "50%": ["50%25", "50%25"],
      " x\u00a0": ["%20x%C2%A0", " x\u00a0"],
      "tab\there\u0085": ["tab%09here%C2%85", "tab%09here%C2%85"],
      "é \ufeff": ["é %EF%BB%BF", "é \ufeff"],
    };
    const store = new RecalldStore(recalld, { root: "named", fields });
    const labels = Object.keys(named);
    await store.batch(labels.map((key) => ({ namespace: [key], key, value: { text: "x" } })));
    for (const [name, id] of Object.values(named)) {
      const { value } = await recalld
        .memories({ namespace: `named/${name}` })
        .pages()
        .next();
      expect(value?.memories[0]?.externalId).toBe(id);
    }
    expect(new Set((await store.listNamespaces()).flat())).toEqual(new Set(labels));
  });

  test("embeds the whole value unless fields are named", async () => {
    const store = ours({});
    await store.batch([
      { namespace: ["a"], key: "1", value: { note: "Ben plays the piano.", n: 1 } },
      { namespace: ["a"], key: "2", value: { note: "Ana eats no nuts.", n: 2 } },
    ]);
    const found = await store.search(["a"], { query: "Who makes music?", limit: 1 });
    expect(found).toMatchObject([{ key: "1", value: { note: "Ben plays the piano.", n: 1 } }]);
  });

  test("takes recalld's own conditions, and finds an element of a list", async () => {
    const store = ours();
    await store.put(["a"], "1", { text: "one", tags: ["x", "y"], at: { city: "Rome" }, "a.b": 1 });
    await store.put(["a"], "2", { text: "two", tags: [], at: { city: "Oslo" } });
    const keys = async (filter: Record<string, unknown>) =>
      (await store.search(["a"], { filter })).map(({ key }) => key);
    expect(await keys({ tags: "x" })).toEqual(["1"]);
    expect(await keys({ at: { city: "Oslo" } })).toEqual(["2"]);
    expect(await keys({ at: { city: { $prefix: "R" } } })).toEqual(["1"]);
    expect(await keys({ "a.b": 1 })).toEqual(["1"]);
    expect(await keys({ $or: [{ text: "two" }, { "at.city": "Rome" }] })).toEqual(["1", "2"]);
    expect(await keys({ $external_id: { $prefix: "2" } })).toEqual(["2"]);
    await expect(keys({ tags: ["x", "y"] })).rejects.toMatchObject({ code: "invalid_argument" });
  });

  test("writes, reads and ranks more than one call holds", async () => {
    const store = new RecalldStore(new Recalld({ apiKey: await signUp(server.url), baseUrl: server.url }));
    const keys = Array.from({ length: 260 }, (_, n) => `key ${n}`);
    await store.batch(keys.map((key, n) => ({ namespace: ["many"], key, value: { text: `Note ${n}`, n } })));
    const got = await store.batch(keys.map((key) => ({ namespace: ["many"], key })));
    expect(got.map((item) => item?.value.n)).toEqual(keys.map((_, n) => n));
    const found = await store.search(["many"], { query: "Note 7", limit: 50, offset: 5 });
    expect(new Set(found.map(({ key }) => key)).size).toBe(50);
    const scores = found.map(({ score }) => score ?? 0);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(await store.search(["many"], { limit: 150, offset: 109 })).toHaveLength(150);
    await expect(store.search(["many"], { query: "x", limit: 257 })).rejects.toMatchObject({
      code: "out_of_range",
      field: "limit",
    });
    await store.batch(keys.map((key) => ({ namespace: ["many"], key, value: null })));
    expect(await store.search(["many"])).toEqual([]);
    // InMemoryStore lists what is empty.
    expect(await store.listNamespaces()).toEqual([]);
  }, 60_000);

  test("refuses what it could not give back", async () => {
    const store = ours();
    const refused = (key: string, value: Record<string, unknown>, namespace = ["a"]) =>
      expect(store.put(namespace, key, value)).rejects;
    await refused("", { text: "x" }).toMatchObject({ code: "invalid_argument", field: "key" });
    await refused("k", { recalld_unindexed: 1 }).toMatchObject({ code: "invalid_argument", field: "value" });
    await refused("k", { text: "x", long: "x".repeat(17_000) }).toThrow(/key k: .*16,384/);
    await refused("k".repeat(257), { text: "x" }).toThrow(/256/);
    await refused("k", { text: "x" }, ["a".repeat(260)]).toThrow(/256/);
    expect(await store.search([])).toEqual([]);
  });
});
