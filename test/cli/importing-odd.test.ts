import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { formatOf, readAs } from "../../cli/import/formats.js";
import type { Read } from "../../cli/import/imported.js";
import { decoded, openSource } from "../../cli/import/source-file.js";

async function fileOf(content: string | Buffer): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "recalld-import-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "file"), content);
  return join(folder, "file");
}

/** Reads a file of a format, or of the one that its content shows. */
async function readAll(from: string | undefined, content: string | Buffer | object): Promise<Read[]> {
  const isRaw = typeof content === "string" || Buffer.isBuffer(content);
  const source = await openSource(await fileOf(isRaw ? content : JSON.stringify(content)));
  const read: Read[] = [];
  try {
    const parts = readAs(from ?? (await formatOf(source)), source);
    for await (const each of parts) read.push(each);
  } finally {
    await source.close();
  }
  return read;
}

/** Summarizes what was read: the text, or the location and why there is none. */
const short = (parts: readonly Read[]) =>
  parts.map((part) => {
    if ("text" in part) return part.text;
    return `${part.location}: ${part.message}`;
  });

const said = (text: string, more: object = {}) => ({
  author: { role: "user" },
  content: { content_type: "text", parts: [text] },
  ...more,
});

const WITHOUT_IDS = {
  claude: [
    { chat_messages: [{ sender: "human", text: "one" }] },
    { chat_messages: [{ sender: "human", text: "one" }] },
  ],
  supermemory: { memories: [{ content: "one" }, { content: "one" }] },
  mem0: { results: [{ memory: "one" }, { memory: "one", id: null }] },
  qdrant: { result: { points: [{ payload: { text: "one" } }, { payload: { text: "one" } }] } },
  chroma: { ids: [null, ""], documents: ["one", "one"] },
  chatgpt: [{ mapping: { a: { message: said("one") } } }, { mapping: { a: { message: said("one") } } }],
};

it.each(Object.entries(WITHOUT_IDS))("%s: what has no id gets one that stays", async (from, content) => {
  const ids = (await readAll(from, content)).map(({ sourceId }) => sourceId);
  expect(new Set(ids).size).toBe(2);
  expect((await readAll(undefined, content)).map(({ sourceId }) => sourceId)).toEqual(ids);
});

it("keeps ids apart that String() or a double would make one", async () => {
  const ids = [
    "9007199254740993",
    "9007199254740992",
    "-0",
    "0",
    "1e999",
    '{"a":1}',
    '{"a":2}',
    "[1,2]",
    "true",
  ];
  const points = ids.map((id, i) => `{"id":${id},"payload":{"text":"${i}"}}`).join(",");
  const read = await readAll("qdrant", `{"result":{"points":[${points}]}}`);
  expect(new Set(read.map(({ sourceId }) => sourceId)).size).toBe(ids.length);
  expect(read[0]).toMatchObject({ sourceId: "qdrant 9007199254740993", text: "0" });
});

it.each(["1234567890123456789", "NaN", "Infinity", "-Infinity", "1e999", "-0", '[{"b":-0.0}]'])(
  "refuses metadata with %s, and nothing else",
  async (number) => {
    const content = `{"ids":["a","b"],"embeddings":[[NaN,1e999]],"documents":["NaN -Infinity \\\\","x"],
      "metadatas":[{"a":"1234567890123456789","n":1e20},{"n":${number}}]}`;
    const read = await readAll(undefined, content);
    expect(read[0]).toMatchObject({ text: "NaN -Infinity \\", metadata: { n: 1e20 } });
    const path = number.startsWith("[") ? "metadata.n[0].b" : "metadata.n";
    const what = number.startsWith("[") ? "-0.0" : number;
    expect(short(read)[1]).toBe(`$.documents[1]: ${path} is ${what}, which would not come back`);
  },
);

it.each(["[NaNs]", "[01e999]", "[-]", "[1e5.3]", '["a', "[--Infinity]", "[NaN"])(
  "%s is still not JSON",
  async (text) => {
    await expect(readAll("mem0", text)).rejects.toThrow(/not JSON/);
  },
);

const TREE = {
  a: { parent: null, children: ["b"], message: said("tea") },
  b: { parent: "a", children: ["c", "d"], message: said("left") },
  c: { parent: "b", children: [], message: said("old", { create_time: 5 }) },
  d: { parent: "b", children: [], message: said("new", { create_time: 6 }) },
};

it.each([
  ["a current node", { mapping: TREE, current_node: "c" }, ["tea", "left", "old"]],
  ["no current node", { mapping: TREE }, ["tea", "left", "new"]],
  ["a current node that is not there", { mapping: TREE, current_node: "toString" }, ["tea", "left", "new"]],
  [
    "a parent that is not there",
    { mapping: { ...TREE, a: { ...TREE.a, parent: "x" } }, current_node: "d" },
    ["tea", "left", "old", "new"],
  ],
  ["a cycle", { mapping: { ...TREE, a: { ...TREE.a, parent: "d" } } }, ["tea", "left", "old", "new"]],
  [
    "a time out of range",
    { mapping: { ...TREE, b: { ...TREE.b, message: said("b", { create_time: 1e20 }) } }, current_node: "c" },
    ["tea", "b", "old"],
  ],
  [
    "null messages and parts",
    {
      mapping: {
        ...TREE,
        b: { ...TREE.b, message: null },
        c: { ...TREE.c, message: { author: { role: "user" }, content: { parts: [null, "old", { x: 1 }] } } },
      },
      current_node: "c",
    },
    ["tea", "old"],
  ],
  [
    "children and parts that no text can be made of",
    {
      mapping: {
        ...TREE,
        d: {
          ...TREE.d,
          children: [{ toString: 1 }],
          message: said("", { content: { parts: [{ content_type: { toString: 1 }, text: "x" }, "new"] } }),
        },
      },
    },
    ["tea", "left", "new"],
  ],
  [
    "no author, and an empty answer",
    {
      mapping: {
        ...TREE,
        b: { ...TREE.b, message: { content: null } },
        c: { ...TREE.c, message: { author: { role: "assistant" }, content: { parts: [""] } } },
      },
      current_node: "c",
    },
    ["tea", "$[0].mapping.b: it is not a message with an author"],
  ],
  ["no mapping", { title: "x", mapping: [] }, ["$[0]: it is not a conversation with messages"]],
])("ChatGPT: a conversation with %s loses nothing else", async (_, conversation, expected) => {
  const after = { mapping: { z: { message: said("after") } } };
  expect(short(await readAll("chatgpt", [conversation, after]))).toEqual([...expected, "after"]);
});

it("takes what was said to ChatGPT, and pasted into Claude", async () => {
  const content = {
    content_type: "multimodal_text",
    parts: [{ content_type: "audio_transcription", text: "cello" }],
  };
  const mapping = { a: { message: { author: { role: "user" }, content } } };
  expect(short(await readAll(undefined, [{ mapping }]))).toEqual(["cello"]);
  const message = (more: object) => ({ uuid: "m", sender: "human", content: [], ...more });
  const attachments = [{ file_name: "a.txt", extracted_content: "blue" }, null];
  const chat_messages = [message({ text: "", attachments }), message({ text: "Bike:", attachments }), 5];
  expect(short(await readAll(undefined, [{ uuid: "c", chat_messages }, 7]))).toEqual([
    ...["blue", "Bike:\nblue"],
    "$[0].chat_messages[2]: it is not a message",
    "$[1]: it is not a conversation with messages",
  ]);
});

it.each([
  ["2099-08-31", "2099-08-31T23:59:59.000Z"],
  ["2099-08-31T10:00:00", "2099-08-31T10:00:00.000Z"],
  ["2099-08-31T10:00:00.5+02:00", "2099-08-31T08:00:00.500Z"],
  ["2099-02-30", undefined],
  ["soon", undefined],
  [5, undefined],
])("mem0's expiration_date %s is the expiry %s", async (date, expected) => {
  const memory = { id: "u", memory: "away", categories: ["travel"], expiration_date: date };
  const [read, other] = await readAll(undefined, { results: [memory, 5] });
  if (expected === undefined)
    expect(read).toMatchObject({ result: "refused", message: "its expiration_date is no date" });
  else {
    expect(read).toMatchObject({
      expireTime: expected,
      metadata: { imported_from: { categories: ["travel"] } },
    });
  }
  expect(other).toMatchObject({ location: "$.results[1]", result: "skipped", message: "it is not a memory" });
});

const ENTITY = JSON.stringify({ type: "entity", name: "A", entityType: "p", observations: ["z\u2028y"] });
const LATER = ENTITY.replace("A", "B");

it("names bad lines by their number, and reads the others", async () => {
  const lines = [
    Buffer.from("\ufeff{"),
    Buffer.from([0x22, 0xff, 0x22]),
    Buffer.from(`${ENTITY}\r`),
    Buffer.from("\r"),
    Buffer.from('{"type":"x"}'),
    Buffer.from('{"type":"entity","observations":["x"]}'),
    Buffer.from(LATER),
  ];
  const file = Buffer.concat(lines.flatMap((line) => [line, Buffer.from("\n")]));
  expect(short(await readAll(undefined, file))).toEqual([
    "line 1: it is not a JSON object",
    "line 2: it is not UTF-8 (byte 6 of the file)",
    "A: z\u2028y",
    "line 5: it is no entity or relation",
    "line 6: its entity has no name",
    "B: z\u2028y",
  ]);
});

it("refuses only the lines of JSON Lines that are not UTF-8, also where nobody names the format", async () => {
  const file = Buffer.from('{"text":"a"}\n{"text":"b?"}\n{"text":"c"}\n');
  file[file.indexOf("?")] = 0xff;
  expect(short(await readAll(undefined, file))).toEqual([
    "a",
    "line 2: it is not UTF-8 (byte 23 of the file)",
    "c",
  ]);
});

it("reads a file with a byte order mark, and names UTF-16", async () => {
  const json = '{"ids":["a"],"documents":["Ana"],"metadatas":[null]}';
  expect(short(await readAll(undefined, `\ufeff${json}`))).toEqual(["Ana"]);
  expect(short(await readAll(undefined, `\ufeff${ENTITY}\r\n`))).toHaveLength(1);
  for (const text of [json, `\ufeff${json}`]) {
    const utf16 = Buffer.from(text, "utf16le");
    // A reader of lines would say that they are not its own.
    for (const from of [undefined, "chroma", "jsonl"])
      await expect(readAll(from, utf16)).rejects.toThrow(/is UTF-16; save it as UTF-8/);
    await expect(readAll("jsonl", Buffer.from(utf16).swap16())).rejects.toThrow(/is UTF-16/);
    expect(() => decoded(utf16, "a.txt")).toThrow("a.txt is UTF-16");
  }
  const broken = Buffer.from(`\n${json}`);
  broken[30] = 0xff;
  await expect(readAll("chroma", broken)).rejects.toThrow(/not UTF-8 at byte 30 \(line 2\)/);
});

it("reads the lines around one that is too deep for the stack", async () => {
  const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
  const lines = `{"text":"a"}\n{"text":"b","metadata":${deep}}\n{"text":"c","id":${deep}}\n{"text":"d"}`;
  expect(short(await readAll("jsonl", lines))).toEqual(["a", "b", "c", "d"]);
});

it.each(["", "[]", "5", "{}", "x", '[{"a":1}]'])("%j is of no known format", async (text) => {
  await expect(readAll(undefined, text)).rejects.toThrow(/no known format: recalld, recalld-account, mem0/);
});
