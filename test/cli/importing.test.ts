import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { importFile, importMemories, STORING_MAX, type Storing } from "../../cli/import/import-memories.js";
import { externalIdOf, type Imported, type Read } from "../../cli/import/imported.js";
import { type OnSecret, Recalld } from "../../clients/typescript/src/index.js";
import { MemoryError } from "../../src/errors.js";
import { QuickClock, type Scripted, scriptedFetch } from "../clients/scripted.js";

const memory = (i: number): Imported => ({
  sourceId: `test ${i}`,
  location: `line ${i}`,
  text: `text ${i}`,
  metadata: { i },
});

const at = (location: string) => ({ location, result: "refused" });

async function* some(count: number, others: readonly Read[] = []) {
  for (let i = 0; i < count; i++) yield memory(i);
  yield* others;
}

it("stores each memory under an external id of its own, a few at a time, and reports", async () => {
  const stored = new Map<string, Storing>();
  let running = 0;
  let most = 0;
  const shown: number[] = [];
  const others: Read[] = [
    { sourceId: "test s", location: "$[1]", result: "skipped", message: "it has no text" },
    { sourceId: "test long", location: "$[2]", text: "x".repeat(65_537), metadata: {} },
    { sourceId: "test blank", location: "$[3]", text: " ", metadata: {} },
    { sourceId: "test deep", location: "$[4]", text: "a", metadata: { n: Number.NaN } },
  ];
  const report = await importMemories({
    read: some(50, others),
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
    read: 54,
    stored: 49,
    already: 1,
    skipped: 1,
    refused: 3,
    problems: [
      { sourceId: "test s", location: "$[1]", result: "skipped", message: "it has no text" },
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
    store: undefined,
  });
  expect(report).toMatchObject({ stored: 2, already: 1, skipped: 1, refused: 1 });
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
    read: some(3, [{ sourceId: "test blank", location: "$[5]", text: "", metadata: {} }]),
    store: undefined,
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

/** Imports one memory into a server that answers like this. */
async function importOne(...answers: readonly Scripted[]) {
  const folder = await mkdtemp(join(tmpdir(), "recalld-import-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "mem0.json");
  await writeFile(
    file,
    '{"results": [{"id": "1", "memory": "one", "metadata": {"big": 6e23, "even": 9007199254740992}}]}',
  );
  const script = scriptedFetch(...answers);
  const options = {
    apiKey: "rcl_1",
    baseUrl: "http://memory.example/base",
    clock: new QuickClock(),
    retries: 10,
  };
  const server = new Recalld({ ...options, fetch: script.fetch });
  const report = importFile({ file, namespace: "n", server, show: () => {} });
  return { report, requests: script.requests };
}

it("tries a memory again when the server is busy, away or breaks off, as the same call", async () => {
  const { report, requests } = await importOne(
    { status: 429, headers: { "retry-after": "0" }, body: { code: "resource_exhausted" } },
    { status: 503, body: "a proxy's own words" },
    new TypeError("fetch failed"),
    { status: 200, body: { id: "mem_1", outcome: "KEPT" } },
  );
  expect(await report).toMatchObject({ from: "mem0", read: 1, stored: 0, already: 1 });
  expect(requests).toHaveLength(4);
  expect(new Set(requests.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
  expect(requests[0]?.url).toBe("http://memory.example/base/recalld.v1.MemoryService/Store");
  expect(JSON.parse(requests[0]?.body ?? "")).toEqual({
    namespace: "n",
    text: "one",
    externalId: "mem0 1",
    onConflict: "KEEP",
    metadata: { big: 6e23, even: 2 ** 53, imported_from: { program: "mem0", id: "1" } },
  });
});

it("goes on after a memory that the server refuses, and ends where it refuses the caller", async () => {
  const refused = await importOne({
    status: 400,
    body: { code: "invalid_argument", message: "text is long" },
  });
  expect(await refused.report).toMatchObject({ refused: 1, problems: [{ message: "text is long" }] });
  const denied = await importOne({ status: 401, body: { code: "unauthenticated", message: "no" } });
  await expect(denied.report).rejects.toMatchObject({ code: "unauthenticated" });
  const elsewhere = await importOne({ status: 307, headers: { location: "http://evil.example/" }, body: "" });
  await expect(elsewhere.report).rejects.toThrow("redirects to http://evil.example/");
  for (const { requests } of [refused, denied, elsewhere]) expect(requests).toHaveLength(1);
});

it.each([
  [{ from: "nowhere" }, "invalid_argument", /--from must be one of recalld, recalld-account, mem0/],
  [{ file: "/nonexistent/file" }, "invalid_argument", /nonexistent.file cannot be read: ENOENT/],
  [{ file: import.meta.dirname }, "invalid_argument", /cannot be read: EISDIR/],
  [
    { file: import.meta.filename, from: undefined },
    "invalid_argument",
    /no known format: recalld, recalld-account, mem0/,
  ],
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

it("finds in a dry run the secrets that the server is asked to refuse, or cannot redact", async () => {
  const key = `AKIA${"B".repeat(16)}`;
  const read = async function* (): AsyncGenerator<Read> {
    yield* some(1);
    yield { ...memory(1), text: `the key is ${key}` };
    yield { ...memory(2), metadata: { [key]: 1 } };
  };
  const placesFor = async (onSecret: OnSecret) => {
    const { problems } = await importMemories({ read: read(), store: undefined, onSecret });
    return problems.map(({ location }) => location);
  };
  expect(await placesFor("STORE")).toEqual([]);
  expect(await placesFor("REDACT")).toEqual(["line 2"]);
  expect(await placesFor("REFUSE")).toEqual(["line 1", "line 2"]);
});
