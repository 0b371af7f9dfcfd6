import { describe, expect, test } from "vitest";
import { type Metadata, Recalld, RecalldError } from "../../clients/typescript/src/index.js";
import { scriptedFetch } from "./scripted.js";

const script = scriptedFetch({ status: 200, body: { id: "mem_1" } });
const recalld = new Recalld({
  apiKey: "rcl_secret",
  baseUrl: "http://memory.example",
  ...script,
  retries: 0,
});
const loop: Record<string, unknown> = {};
loop.self = loop;
class Point {
  readonly #x = 1;
  sum = () => this.#x;
}
class Empty {}

/** Values as callers that TypeScript does not check may pass them. */
const metadataOf = (v: unknown) => ({ v }) as unknown as Metadata;
const store = (v: unknown) => recalld.store({ namespace: "ana", text: "x", metadata: metadataOf(v) });

describe("a value that JSON cannot write", () => {
  const values: Record<string, [value: unknown, field: string]> = {
    "a BigInt": [10n, "metadata.v"],
    NaN: [Number.NaN, "metadata.v"],
    Infinity: [Number.POSITIVE_INFINITY, "metadata.v"],
    "-0": [-0, "metadata.v"],
    "a Map": [new Map([["a", 1]]), "metadata.v"],
    "a Set": [new Set([1]), "metadata.v"],
    "a function": [() => 1, "metadata.v"],
    "a symbol": [Symbol("s"), "metadata.v"],
    bytes: [new Uint8Array(2), "metadata.v"],
    "Node's bytes": [Buffer.from("a"), "metadata.v"],
    "an ArrayBuffer": [new ArrayBuffer(2), "metadata.v"],
    "an invalid Date": [new Date("never"), "metadata.v"],
    "an instance without fields": [new Empty(), "metadata.v"],
    "an instance with a method as a field": [new Point(), "metadata.v.sum"],
    "a RegExp": [/a/, "metadata.v"],
    "a Promise": [Promise.resolve(1), "metadata.v"],
    "an Error": [new Error("e"), "metadata.v"],
    "a cycle": [loop, "metadata.v.self"],
    "undefined in a list": [[1, undefined], "metadata.v[1]"],
    "one deep inside": [{ a: [{ b: 1n }] }, "metadata.v.a[0].b"],
    "one that toJSON gives": [{ toJSON: () => Number.NaN }, "metadata.v"],
  };

  test.each(Object.entries(values))("is refused before anything is sent: %s", async (_, [value, field]) => {
    const error = await store(value).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RecalldError);
    expect(error).toMatchObject({ code: "invalid_argument", field });
    expect((error as Error).message).toContain(field);
    expect(script.requests).toHaveLength(0);
  });

  test("is refused with what to do: a -0 as the server does, which JSON itself could write", async () => {
    await expect(store(-0)).rejects.toThrow("metadata.v is -0, which would come back as 0; send 0");
    await expect(store(1n)).rejects.toThrow("send it as a string or leave it out");
  });

  const metadata = metadataOf(1n);
  const calls: Record<string, [() => Promise<unknown>, field: string]> = {
    storeBatch: [
      () => recalld.storeBatch({ namespace: "ana", memories: [{ text: "x" }, { text: "y", metadata }] }),
      "memories[1].metadata.v",
    ],
    update: [() => recalld.update({ namespace: "ana", id: "mem_1", metadata }), "metadata.v"],
    recall: [() => recalld.recall({ namespace: "ana", query: "x", filter: metadata }), "filter.v"],
    "recall's number": [() => recalld.recall({ namespace: "ana", query: "x", topK: Number.NaN }), "topK"],
    deleteMemories: [() => recalld.deleteMemories({ namespace: "ana", filter: metadata }), "filter.v"],
    count: [() => recalld.count({ namespace: "ana", filter: metadata }), "filter.v"],
    memories: [() => recalld.memories({ namespace: "ana", filter: metadata }).pages().next(), "filter.v"],
    export: [() => recalld.export({ namespace: "ana", filter: metadata }).lines().next(), "filter.v"],
    watch: [() => recalld.watch({ namespace: "ana", position: 1n as unknown as string }).next(), "position"],
  };
  test.each(Object.entries(calls))("is refused in %s", async (_, [call, field]) => {
    await expect(call()).rejects.toMatchObject({ name: "RecalldError", code: "invalid_argument", field });
    expect(script.requests).toHaveLength(0);
  });

  test("is refused with its cause when the caller's own code fails", async () => {
    const cause = new Error("no");
    const toJSON = () => {
      throw cause;
    };
    await expect(store({ toJSON })).rejects.toMatchObject({ code: "invalid_argument", cause });
    await expect(recalld.store(undefined as never)).rejects.toMatchObject({ code: "invalid_argument" });
    let deep: unknown = 1;
    for (let n = 0; n < 100_000; n++) deep = [deep];
    await expect(store(deep)).rejects.toMatchObject({ code: "invalid_argument" });
  });
});

test("what JSON writes is sent as it writes it", async () => {
  const twice = { a: 1 };
  const written = {
    date: new Date(0),
    absent: undefined,
    nothing: null,
    whole: 2 ** 53,
    large: 6e23,
    part: 1e-7,
    first: twice,
    second: twice,
    bare: Object.assign(Object.create(null), { b: [] }),
    empty: {},
    fields: Object.assign(new Empty(), { c: "c" }),
    url: new URL("http://memory.example/a"),
  };
  await store(written);
  expect(JSON.parse(script.requests[0]?.body ?? "").metadata.v).toEqual({
    date: "1970-01-01T00:00:00.000Z",
    nothing: null,
    whole: 9007199254740992,
    large: 6e23,
    part: 1e-7,
    first: { a: 1 },
    second: { a: 1 },
    bare: { b: [] },
    empty: {},
    fields: { c: "c" },
    url: "http://memory.example/a",
  });
});

test("an error's JSON has what it says, and neither key nor stack", async () => {
  const echo = { status: 502, body: "Bad gateway. Authorization: Bearer rcl_secret", headers: {} };
  const error = await recalld
    .store({ namespace: "ana", text: "x" }, { fetch: scriptedFetch(echo).fetch, requestId: "r1" })
    .catch((thrown: RecalldError) => thrown);
  const text = JSON.stringify(error);
  expect(JSON.parse(text)).toEqual({
    name: "RecalldError",
    code: "unavailable",
    status: 502,
    requestId: "r1",
    attempts: 1,
    metadata: {},
    message: "the answer is HTTP 502, and not recalld's: Bad gateway. Authorization: Bearer rcl_…",
  });
  const refused = { reason: "ETAG_MISMATCH", field: "etag", metadata: { etag: "e" }, retryAfterMs: 5 };
  expect(JSON.parse(JSON.stringify(new RecalldError("aborted", "it was changed", refused)))).toMatchObject({
    ...refused,
    message: "it was changed",
  });
});

test.each([
  ["namespace", () => recalld.export({ namespace: "\ud800" })[Symbol.asyncIterator]().next()],
  ["namespace", () => recalld.watch({ namespace: "a\udc00" }).next()],
  ["headers", () => recalld.count({ namespace: "ana" }, { headers: { a: "b\u2028" } })],
])("a %s that no request can hold is refused before anything is sent", async (field, ask) => {
  const sent = script.requests.length;
  const asking = async (): Promise<unknown> => ask();
  const error = await asking().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(RecalldError);
  expect(error).toMatchObject({ code: "invalid_argument", field });
  expect(script.requests).toHaveLength(sent);
});
