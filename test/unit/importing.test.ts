import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { MemoryError } from "../../src/errors.js";
import { importFile } from "../../src/importing/import-file.js";
import {
  externalIdOf,
  importMemories,
  STORING_MAX,
  type Storing,
} from "../../src/importing/import-memories.js";
import type { Imported, Read } from "../../src/importing/imported.js";
import { storeOverHttp } from "../../src/importing/store-over-http.js";

const memory = (i: number): Imported => ({
  sourceId: `test ${i}`,
  place: `line ${i}`,
  text: `text ${i}`,
  metadata: { i },
});

const at = (place: string) => ({ place, result: "refused" });

async function* some(count: number, others: readonly Read[] = []) {
  for (let i = 0; i < count; i++) yield memory(i);
  yield* others;
}

it("stores each memory under an external id of its own, a few at a time, and reports", async () => {
  const stored = new Map<string, Storing>();
  let running = 0;
  let most = 0;
  const shown: number[] = [];
  const others = [
    { sourceId: "test s", place: "$[1]", skipped: "it has no text" },
    { sourceId: "test long", place: "$[2]", text: "x".repeat(65_537), metadata: {} },
    { sourceId: "test blank", place: "$[3]", text: " ", metadata: {} },
    { sourceId: "test deep", place: "$[4]", text: "a", metadata: { n: Number.NaN } },
  ];
  const report = await importMemories({
    read: some(50, others),
    dryRun: false,
    store: async (storing) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
      stored.set(storing.externalId, storing);
      return { already: storing.text === "text 7" };
    },
    onProgress: ({ read }) => shown.push(read),
  });
  expect(most).toBe(STORING_MAX);
  expect([...stored.values()].map(({ text }) => text).sort()).toEqual(
    Array.from({ length: 50 }, (_, i) => `text ${i}`).sort(),
  );
  expect(report).toEqual({
    ...{ read: 54, stored: 49, already: 1, skipped: 1, refused: 3 },
    problems: [
      { sourceId: "test s", place: "$[1]", result: "skipped", message: "it has no text" },
      { sourceId: "test long", ...at("$[2]"), message: expect.stringMatching(/65,537 bytes/) },
      { sourceId: "test blank", ...at("$[3]"), message: "text is blank" },
      { sourceId: "test deep", ...at("$[4]"), message: expect.stringMatching(/metadata/) },
    ],
  });
  expect(shown.at(-1)).toBe(54);
});

it("takes the external id of a memory, or its id in the source, or what stands for a long one", () => {
  expect(externalIdOf(memory(1))).toBe("test 1");
  expect(externalIdOf({ ...memory(1), externalId: "mine" })).toBe("mine");
  const long = externalIdOf({ ...memory(1), sourceId: "é".repeat(200) });
  expect(long).toMatch(/^import-[0-9a-f]{64}$/);
  expect(externalIdOf({ ...memory(1), sourceId: "é".repeat(201) })).not.toBe(long);
});

it("names a memory that has expired, and a second one with an id of another", async () => {
  const read = async function* () {
    yield memory(1);
    yield memory(1);
    yield { ...memory(1), text: "another" };
    yield { ...memory(2), expireTime: "2020-01-01T00:00:00Z" };
    yield { ...memory(3), expireTime: "2999-01-01T00:00:00Z" };
  };
  const report = await importMemories({
    read: read(),
    dryRun: true,
    store: async () => ({ already: false }),
  });
  expect(report).toMatchObject({ stored: 3, skipped: 1, refused: 1 });
  expect(report.problems).toMatchObject([
    { sourceId: "test 1", result: "refused", message: expect.stringMatching(/another content/) },
    { sourceId: "test 2", result: "skipped", message: "it expired at 2020-01-01T00:00:00Z" },
  ]);
});

it("makes ids that a namespace takes of those that it does not", () => {
  const ids = ["a\u0000", "a\u0001", "\ud800", "\ud801"].map((sourceId) =>
    externalIdOf({ ...memory(1), sourceId }),
  );
  expect(new Set(ids).size).toBe(4);
  for (const id of ids) expect(id).toMatch(/^import-[0-9a-f]{64}$/);
});

it("a dry run stores nothing, and finds what would be refused", async () => {
  const report = await importMemories({
    read: some(3, [{ sourceId: "test blank", place: "$[5]", text: "", metadata: {} }]),
    dryRun: true,
    store: async () => Promise.reject(new Error("it stored something")),
  });
  expect(report).toMatchObject({ read: 4, stored: 3, refused: 1 });
});

it.each([
  ["unauthenticated", {}],
  ["permission_denied", { reason: "KEY_READ_ONLY" }],
  ["resource_exhausted", { reason: "QUOTA_EXHAUSTED" }],
  ["unavailable", {}],
] as const)("ends when a store is %s, and begins no other", async (code, options) => {
  let stores = 0;
  let closed = false;
  async function* read() {
    try {
      yield* some(1_000);
    } finally {
      closed = true;
    }
  }
  const importing = importMemories({
    read: read(),
    dryRun: false,
    store: async () => {
      if (++stores === 20) throw new MemoryError(code, "no", options);
      return { already: false };
    },
  });
  await expect(importing).rejects.toMatchObject({ code });
  expect(closed).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(stores).toBeLessThan(20 + STORING_MAX);
});

/** Starts a server that answers each call by this function. */
async function answering(answer: (nth: number, request: IncomingMessage, response: ServerResponse) => void) {
  let calls = 0;
  const server = createServer((request, response) => {
    request.resume().on("end", () => answer(++calls, request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, calls: () => calls };
}

const STORING: Storing = { ...memory(1), externalId: "mine" };

it("tries again when the server is busy, away or breaks off, as the same call", async () => {
  const keys = new Set<string>();
  const { url, calls } = await answering((nth, request, response) => {
    expect(request.url).toBe("/base/store");
    expect(request.headers).toMatchObject({ authorization: "Bearer rcl_1" });
    keys.add(String(request.headers["idempotency-key"]));
    if (nth === 1) response.writeHead(429, { "retry-after": "0" }).end('{"code":"resource_exhausted"}');
    else if (nth === 2) response.writeHead(503, { "retry-after": "0" }).end("a proxy's own words");
    else if (nth === 3) response.destroy();
    else response.writeHead(200).end('{"outcome":"KEPT"}');
  });
  const store = storeOverHttp({ url: `${url}/base`, key: "rcl_1", namespace: "n" });
  expect(await store(STORING)).toEqual({ already: true });
  expect(calls()).toBe(4);
  expect(keys.size).toBe(1);
});

it.each([
  [400, { code: "invalid_argument", message: "text is long" }, { code: "invalid_argument" }],
  [401, { code: "unauthenticated", message: "no" }, { code: "unauthenticated" }],
  [
    429,
    { code: "resource_exhausted", message: "no", details: [{ debug: { reason: "QUOTA_EXHAUSTED" } }] },
    { code: "resource_exhausted", reason: "QUOTA_EXHAUSTED" },
  ],
  [404, "a web page", { code: "failed_precondition" }],
])("does not try again after %i %j", async (status, body, error) => {
  const { url, calls } = await answering((_nth, _request, response) => {
    response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body));
  });
  const store = storeOverHttp({ url, key: "rcl_1", namespace: "n" });
  await expect(store(STORING)).rejects.toMatchObject(error);
  expect(calls()).toBe(1);
});

it.each([
  [{ from: "nowhere" }, "invalid_argument", /--from must be one of recalld, mem0/],
  [{ file: "/nonexistent/file" }, "invalid_argument", /nonexistent.file is not there/],
  [{ file: import.meta.dirname }, "invalid_argument", /is a folder/],
  [{ file: import.meta.filename, from: undefined }, "invalid_argument", /no known format: recalld, mem0/],
  [{ file: import.meta.filename, from: "mem0" }, "failed_precondition", /is not JSON/],
  [{ file: import.meta.filename, from: "recalld" }, "failed_precondition", /not an export of recalld/],
])("says what is wrong with %j", async (wrong, code, says) => {
  const given = {
    file: "f",
    from: "mem0",
    namespace: "n",
    server: undefined,
  };
  const importing = importFile({ ...given, show: () => {}, ...wrong });
  await expect(importing).rejects.toThrow(says);
  await expect(importing).rejects.toMatchObject({ code });
});
