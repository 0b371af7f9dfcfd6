import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { FORMATS, formatOf, readAs } from "../../cli/import/formats.js";
import type { Imported, Read } from "../../cli/import/imported.js";
import { openSource } from "../../cli/import/source-file.js";

const FIXTURES = join(import.meta.dirname, "../fixtures/imports");
const [PEANUTS, LISBON, KOELN] = [
  "Ana is allergic to peanuts.",
  "Her flight to Lisbon leaves on Friday. ✈️",
  "Sie wohnt in Köln.",
];

async function partsOf(from: string, path: string): Promise<Read[]> {
  const source = await openSource(path);
  const read: Read[] = [];
  try {
    for await (const each of readAs(from, source)) read.push(each);
  } finally {
    await source.close();
  }
  return read;
}

/** Reads all parts, without their locations. */
async function readAll(from: string, path: string): Promise<Omit<Read, "location">[]> {
  return (await partsOf(from, path)).map(({ location: _, ...part }) => part);
}

/** Describes a part: its text, or why it is none. */
function saidOf(part: object): unknown {
  return Object.entries(part).find(([name]) => ["text", "message"].includes(name))?.[1];
}

const fixture = (from: string, name: string) => readAll(from, join(FIXTURES, name));
const fixtureJson = (name: string) => JSON.parse(readFileSync(join(FIXTURES, name), "utf8"));

async function fileOf(content: string | Buffer): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "recalld-import-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "file"), content);
  return join(folder, "file");
}

const origin = (program: string, id: unknown, facts: object = {}) => ({
  imported_from: { program, id, ...facts },
});

it("reads what Chroma's collection.get() returns", async () => {
  expect(await fixture("chroma", "chroma.json")).toEqual([
    {
      sourceId: "chroma a",
      text: PEANUTS,
      metadata: { source: "chat", turn: 1, ...origin("chroma", "a") },
    },
    { sourceId: "chroma b", text: LISBON, metadata: { score: 0.5, done: true, ...origin("chroma", "b") } },
    { sourceId: "chroma c", text: KOELN, metadata: origin("chroma", "c") },
    { sourceId: "chroma d", result: "skipped", message: "it has no text" },
  ]);
});

it("reads what Qdrant's scroll answers, page after page", async () => {
  const uuid = "5c56c793-69f3-4fbf-87e6-c4bf54c28c26";
  const expected = [
    {
      sourceId: "qdrant 1",
      text: PEANUTS,
      metadata: { metadata: { page: 1 }, ...origin("qdrant", "1") },
    },
    { sourceId: "qdrant 2", text: LISBON, metadata: origin("qdrant", "2") },
    { sourceId: "qdrant 4", result: "skipped", message: "it has no text" },
    {
      sourceId: `qdrant ${uuid}`,
      text: KOELN,
      metadata: { tags: ["city", "home"], ...origin("qdrant", uuid) },
    },
  ];
  expect(await fixture("qdrant", "qdrant.json")).toEqual(expected);
  const [first] = fixtureJson("qdrant.json");
  expect(await readAll("qdrant", await fileOf(JSON.stringify(first)))).toEqual(expected.slice(0, 2));
});

it("reads what mem0's get_all answers, of each of its versions", async () => {
  const { results } = fixtureJson("mem0.json") as { results: Record<string, unknown>[] };
  const expected = results.map(({ id, memory, metadata, created_at, updated_at, run_id, role }) => ({
    sourceId: `mem0 ${id}`,
    text: memory,
    eventTime: new Date(String(created_at)).toISOString(),
    metadata: {
      ...(metadata as object),
      ...origin("mem0", id, { created_at, updated_at, user_id: "ana", run_id, role }),
    },
  }));
  expect(expected.map(({ text }) => text).sort()).toEqual([PEANUTS, LISBON, KOELN].sort());
  expect(await fixture("mem0", "mem0.json")).toEqual(expected);
  const page = { count: 3, next: null, previous: null, results };
  for (const json of [results, [page], page]) {
    expect(await readAll("mem0", await fileOf(JSON.stringify(json)))).toEqual(expected);
  }
});

it("reads the documents of Supermemory", async () => {
  const facts = { type: "text", containerTags: ["user_ana"] };
  const eventTime = "2026-11-21T09:30:00.123Z";
  const times = { createdAt: eventTime, updatedAt: "2026-11-21T09:30:05.456Z" };
  expect(await fixture("supermemory", "supermemory.json")).toEqual([
    {
      sourceId: "supermemory doc1",
      text: PEANUTS,
      eventTime,
      metadata: {
        turn: 1,
        source: "chat",
        ...origin("supermemory", "doc1", { customId: "fact-1", title: "Peanuts", ...facts, ...times }),
      },
    },
    {
      sourceId: "supermemory doc2",
      text: KOELN,
      eventTime,
      metadata: origin("supermemory", "doc2", {
        ...facts,
        type: "webpage",
        url: "https://example.org/koeln",
        ...times,
      }),
    },
    { sourceId: "supermemory doc3", result: "skipped", message: "it has no text" },
  ]);
});

it("reads the memory.jsonl of @modelcontextprotocol/server-memory", async () => {
  const read = await fixture("server-memory", "memory.jsonl");
  expect(read.map((each) => saidOf(each))).toEqual([
    "Ana: is allergic to peanuts",
    "Ana: flies to Lisbon on Friday ✈️",
    "Köln: has a cathedral",
    "Ana lives in Köln",
  ]);
  expect(read.map((each) => (each as Imported).metadata.imported_from)).toMatchObject([
    { program: "server-memory", entity: "Ana", entity_type: "person" },
    { entity: "Ana" },
    { entity: "Köln", entity_type: "city" },
    { from: "Ana", relation: "lives_in", to: "Köln" },
  ]);
  expect(new Set(read.map(({ sourceId }) => sourceId)).size).toBe(4);
  expect(await fixture("server-memory", "memory.jsonl")).toEqual(read);
});

it("names each bad line of a memory.jsonl, and reads all others", async () => {
  const entity = (name: unknown) => ({ type: "entity", name, entityType: "x", observations: ["likes tea"] });
  const relation = { type: "relation", from: "Ana", to: "Ben" };
  const lines = [[entity("Ana")], entity("Ana"), relation, entity(7), { type: "note" }, entity("Ben")];
  const [first, ...others] = lines.map((line) => Buffer.from(`${JSON.stringify(line)}\n`));
  const bytes = Buffer.concat([first as Buffer, Buffer.from([0xff, 0x0a]), Buffer.from("{\n"), ...others]);
  const read = await partsOf("server-memory", await fileOf(bytes));
  expect(read.map((part) => [part.location, saidOf(part)])).toEqual([
    ["line 1", "it is not a JSON object"],
    ["line 2", expect.stringContaining("UTF-8")],
    ["line 3", "it is not a JSON object"],
    ["line 4", "Ana: likes tea"],
    ["line 5", "it has no text"],
    ["line 6", "its entity has no name"],
    ["line 7", "it is no entity or relation"],
    ["line 8", "Ben: likes tea"],
  ]);
});

it("reads the branch of a ChatGPT conversation that is shown, without tools and instructions", async () => {
  const id = "6920a1b0-0000-8000-8000-000000000001";
  const fact = (message: string, role: string, created_at: string) => {
    const facts = { conversation: "Peanuts", conversation_id: id, role, created_at };
    return { metadata: origin("chatgpt", message, facts), eventTime: created_at };
  };
  expect(await fixture("chatgpt", "chatgpt.json")).toEqual([
    { sourceId: "chatgpt u1", text: PEANUTS, ...fact("u1", "user", "2025-11-21T09:20:00.500Z") },
    {
      sourceId: "chatgpt a2",
      text: "I will remember that. 🥜",
      ...fact("a2", "assistant", "2025-11-21T09:20:20.250Z"),
    },
    { sourceId: "chatgpt u2", text: KOELN, ...fact("u2", "user", "2025-11-21T09:20:30.000Z") },
    { sourceId: "chatgpt p", result: "skipped", message: "it has no text" },
  ]);
});

it("reads the messages of Claude's conversations, without thoughts and tools", async () => {
  const id = (n: number) => `0b7c1f6e-0000-4000-8000-0000000000${n}`;
  const read = await fixture("claude", "claude.json");
  expect(read.map((each) => saidOf(each))).toEqual([
    PEANUTS,
    "Let me look.\nI will remember that. 🥜",
    KOELN,
    "it has no text",
  ]);
  expect(read[0]).toMatchObject({ sourceId: `claude ${id(11)}`, eventTime: "2026-11-21T09:30:00.123Z" });
  expect((read[1] as Imported).metadata.imported_from).toMatchObject({
    id: id(12),
    role: "assistant",
    conversation: "Peanuts",
    conversation_id: "0b7c1f6e-0000-4000-8000-000000000001",
    created_at: "2026-11-21T09:30:05.000000Z",
  });
});

it("keeps where a memory came from before", async () => {
  const before = { program: "mem0", id: "1" };
  const got = { ids: ["a"], documents: ["x"], metadatas: [{ imported_from: before }] };
  expect(await readAll("chroma", await fileOf(JSON.stringify(got)))).toEqual([
    { sourceId: "chroma a", text: "x", metadata: origin("chroma", "a", { imported_from: before }) },
  ]);
});

const HEAD = JSON.stringify({ format: "recalld-export", version: 1 });
const LINE = JSON.stringify({ id: "mem_1", text: "a\nb", metadata: { n: 1 }, tokens: 1 });

function exported(lines: readonly string[], change: object = {}): string {
  const before = lines.map((line) => `${line}\n`).join("");
  const sha256 = createHash("sha256").update(before).digest("hex");
  return `${before}${JSON.stringify({ count: lines.length - 1, sha256, ...change })}\n`;
}

it("reads an export of recalld, as it is", async () => {
  expect(await readAll("recalld", await fileOf(exported([HEAD, LINE])))).toEqual([
    { sourceId: "mem_1", text: "a\nb", metadata: { n: 1 } },
  ]);
  expect(await readAll("recalld", await fileOf(exported([HEAD])))).toEqual([]);
});

it("reads an export of recalld with the blank lines that an editor leaves", async () => {
  const saved = `${exported([HEAD, LINE, LINE]).replaceAll("\n", "\r\n")}\r\n \n`;
  const memory = { sourceId: "mem_1", text: "a\nb", metadata: { n: 1 } };
  expect(await readAll("recalld", await fileOf(saved))).toEqual([memory, memory]);
});

it.each([
  ["cut off in the middle", exported([HEAD, LINE]).slice(0, -30), /not complete/],
  ["without its last line", `${HEAD}\n${LINE}\n`, /not complete/],
  ["that ended with an error", `${HEAD}\n${LINE}\n{"error":{"code":"unavailable"}}\n`, /not complete/],
  ["with a changed text", exported([HEAD, LINE]).replace("a\\nb", "a\\nc"), /checksum/],
  ["with a line less", exported([HEAD, LINE, LINE]).replace(`${LINE}\n`, ""), /checksum/],
  ["with another count", exported([HEAD, LINE], { count: 2 }), /checksum/],
  ["of a later version", exported([HEAD.replace("1", "2"), LINE]), /version is 2/],
  ["that is empty", "", /not complete/],
])("refuses an export %s, before anything of it is stored", async (_, content, says) => {
  const path = await fileOf(content);
  await expect(readAll("recalld", path)).rejects.toThrow(says);
  await expect(readAll("recalld", path)).rejects.toMatchObject({ code: "failed_precondition" });
});

const ACCOUNT_HEAD = JSON.stringify({ format: "recalld-account-export", version: 1, prefix: "" });
const inNamespace = (namespace: string, ...lines: readonly string[]) =>
  exported([JSON.stringify({ format: "recalld-export", version: 1, namespace }), ...lines]);

/** The file of `recalld export --all`. */
function account(namespaces: readonly string[], change: object = {}): string {
  const before = [`${ACCOUNT_HEAD}\n`, ...namespaces].join("");
  const sha256 = createHash("sha256").update(before).digest("hex");
  const lines = before.split("\n").length - 2;
  return `${before}${JSON.stringify({ namespaces: namespaces.length, lines, sha256, ...change })}\n`;
}

it("reads an export of several namespaces, each memory into its own", async () => {
  // A memory that says what the end of an export says is a memory.
  const tricky = JSON.stringify({ id: "mem_2", text: "b", metadata: {}, count: 1, sha256: "x" });
  const content = account([inNamespace("ana", LINE, tricky), inNamespace("empty"), inNamespace("b ß", LINE)]);
  const path = await fileOf(content);
  const first = { sourceId: "mem_1", text: "a\nb", metadata: { n: 1 } };
  const expected = [
    { ...first, namespace: "ana" },
    { sourceId: "mem_2", text: "b", metadata: {}, namespace: "ana" },
    { ...first, namespace: "b ß" },
  ];
  expect(await readAll("recalld-account", path)).toEqual(expected);
  const source = await openSource(path);
  onTestFinished(() => source.close());
  expect(await formatOf(source)).toBe("recalld-account");
  expect(await readAll("recalld-account", await fileOf(account([])))).toEqual([]);
});

const TWO = [inNamespace("ana", LINE), inNamespace("bob", LINE)];

it.each([
  ["cut off in the middle", account(TWO).slice(0, 200), /not complete/],
  ["cut off after a namespace", `${ACCOUNT_HEAD}\n${TWO[0]}`, /not complete/],
  ["without a namespace", account(TWO).replace(TWO[1] as string, ""), /checksum/],
  ["with a changed name", account(TWO).replace("bob", "eve"), /checksum/],
  ["of a later version", account(TWO).replace(":1,", ":2,"), /version is 2/],
  ["with a memory of no namespace", account([`${LINE}\n`]), /no namespace begins/],
  [
    "with half a namespace",
    account([`${(TWO[0] as string).split("\n").slice(0, 2).join("\n")}\n`]),
    /ana is not complete/,
  ],
  ["of one namespace", TWO[0] as string, /not an export of all namespaces/],
])("refuses an export of several namespaces %s", async (_, content, says) => {
  const read = readAll("recalld-account", await fileOf(content));
  await expect(read).rejects.toThrow(says);
  await expect(read).rejects.toMatchObject({ code: "failed_precondition" });
});

it("reads one's own lines, and goes on after a bad one", async () => {
  const lines = [
    '{"text":"a","metadata":{"n":1},"external_id":"x"}',
    "",
    '{"text":"b","id":7}',
    '{"text":" "}',
    "no JSON",
    '{"text":"c","metadata":[1]}',
    '{"text":"d","expire_time":"2099-01-01T00:00:00Z"}',
    '{"text":"e","expire_time":4070908800,"external_id":"","id":"y"}',
    '{"text":"f","expire_time":"2099-01-01","external_id":null,"id":"z"}',
    '{"text":"g","expire_time":true}',
    '{"text":"h","expire_time":"1/1/2099"}',
  ];
  const read = await readAll("jsonl", await fileOf(`\uFEFF${lines.join("\r\n")}`));
  expect(read.map(saidOf)).toEqual([
    ...["a", "b", "it has no text", "it is not a JSON object", "its metadata is not an object", "d"],
    ...["e", "f", "its expire_time is no time", "its expire_time is no time"],
  ]);
  expect(read[0]).toEqual({ sourceId: "x", text: "a", metadata: { n: 1 } });
  expect(read[1]).toMatchObject({ sourceId: "7", metadata: {} });
  expect(read[5]).toMatchObject({ expireTime: "2099-01-01T00:00:00.000Z" });
  expect(read[6]).toMatchObject({ sourceId: "y", expireTime: "2099-01-01T00:00:00.000Z" });
  expect(read[7]).toMatchObject({ sourceId: "z", expireTime: "2099-01-01T23:59:59.000Z" });
});

const FILES = {
  chroma: "chroma.json",
  qdrant: "qdrant.json",
  mem0: "mem0.json",
  supermemory: "supermemory.json",
  "server-memory": "memory.jsonl",
  chatgpt: "chatgpt.json",
  claude: "claude.json",
};

it.each(FORMATS)("%s refuses the files of all others, and what is no JSON", async (from) => {
  for (const [other, name] of Object.entries(FILES)) {
    if (other !== from)
      await expect(fixture(from, name)).rejects.toMatchObject({ code: "failed_precondition" });
  }
  for (const content of ["{", "5", "[1]", '{"a":1}', '"x"']) {
    await expect(readAll(from, await fileOf(content))).rejects.toMatchObject({ code: "failed_precondition" });
  }
});

it("docs/command-line.md says where the file of each format comes from", async () => {
  const docs = await readFile(join(import.meta.dirname, "../../docs/command-line.md"), "utf8");
  for (const from of FORMATS) expect(docs).toContain(`| \`${from}\``);
});

const MARCH = "2016-03-05T09:30:00.000Z";

it.each<[string, string]>([
  ["chroma", JSON.stringify({ ids: ["a"], documents: ["x"], metadatas: [{ created_at: MARCH }] })],
  ["chroma", JSON.stringify({ ids: ["a"], documents: ["x"], metadatas: [{ timestamp: Date.parse(MARCH) }] })],
  ["qdrant", pointsOf({ text: "x", created_at: "2016-03-05T10:30:00+01:00" })],
  ["qdrant", pointsOf({ page_content: "x", metadata: { date: "2016-03-05 09:30:00" } })],
  ["qdrant", pointsOf({ text: "x", timestamp: Date.parse(MARCH) / 1000 })],
  ["mem0", JSON.stringify([{ id: "a", memory: "x", created_at: "2016-03-05T01:30:00-08:00" }])],
  ["supermemory", JSON.stringify({ memories: [{ id: "a", content: "x", createdAt: MARCH }] })],
  ["claude", JSON.stringify([{ chat_messages: [{ uuid: "a", text: "x", created_at: MARCH }] }])],
  ["chatgpt", JSON.stringify([{ mapping: { a: chatGptNode(Date.parse(MARCH) / 1000) } }])],
  ["jsonl", JSON.stringify({ text: "x", event_time: "2016-03-05T09:30:00Z" })],
  ["recalld", exported([HEAD, JSON.stringify({ id: "mem_1", text: "x", metadata: {}, event_time: MARCH })])],
  ["recalld", exported([HEAD, JSON.stringify({ id: "mem_1", text: "x", metadata: {}, created_at: MARCH })])],
])("reads of %s when it happened: %s", async (from, content) => {
  expect(await readAll(from, await fileOf(content))).toMatchObject([{ text: "x", eventTime: MARCH }]);
});

it.each([
  ...["yesterday", "2016-02-30", "2016-03-05T25:00:00Z", "", "0000-01-01T00:00:00Z", 7, 1e18, null, true, {}],
])("takes no time from what is none: %j", async (created_at) => {
  const got = { ids: ["a"], documents: ["x"], metadatas: [{ created_at }] };
  expect((await readAll("chroma", await fileOf(JSON.stringify(got))))[0]).toMatchObject({
    eventTime: undefined,
  });
});

it("refuses a name of one's own lines that it would not keep, but for what recalld writes", async () => {
  const own = { id: "mem_1", tokens: 1, created_at: MARCH, updated_at: MARCH, etag: "x" };
  const found = { ...own, words: 0, explanation: {} };
  const lines = [{ ttl: "60s" }, { metdata: { a: 1 } }, { user: "ana" }, found];
  const content = lines.map((line) => JSON.stringify({ text: "x", ...line })).join("\n");
  expect((await readAll("jsonl", await fileOf(content))).map(saidOf)).toEqual([
    'its "ttl" is no field of a line; put it into metadata',
    'its "metdata" is no field of a line; did you mean metadata?',
    'its "user" is no field of a line; put it into metadata',
    "x",
  ]);
});

it("refuses an event time of one's own that is none", async () => {
  const lines = [{ text: "a", event_time: "March" }, { text: "b", event_time: null }, { text: "c" }];
  const read = await readAll("jsonl", await fileOf(lines.map((line) => JSON.stringify(line)).join("\n")));
  expect(read.map((each) => saidOf(each))).toEqual(["its event_time is no time", "b", "c"]);
});

function pointsOf(payload: object): string {
  return JSON.stringify({ result: { points: [{ id: 1, payload }] } });
}

function chatGptNode(create_time: number): object {
  return { message: { id: "a", author: { role: "user" }, content: { parts: ["x"] }, create_time } };
}
