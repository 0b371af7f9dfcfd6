import { createHash } from "node:crypto";
import { openAsBlob } from "node:fs";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, it, onTestFinished, vi } from "vitest";
import { formatOf, readAs } from "../../cli/import/formats.js";
import { externalIdOf, type Imported, type Read, type Source } from "../../cli/import/imported.js";
import { openSource } from "../../cli/import/source-file.js";
import { BadRequestSchema } from "../../gen/google/rpc/error_details_pb.js";
import { StoreBatchResponseSchema } from "../../gen/recalld/v1/memory_pb.js";
import { sourceOf } from "../../web/src/transfer/file-source.js";
import { importFile, NOTHING, type Progress } from "../../web/src/transfer/import-file.js";
import { createHash as createHashInBrowser } from "../../web/src/transfer/node-crypto.js";

const FIXTURES = join(import.meta.dirname, "../fixtures/imports");

async function partsOf(source: Source): Promise<Read[]> {
  const parts: Read[] = [];
  for await (const part of readAs(await formatOf(source), source)) parts.push(part);
  return parts;
}

it.each(["chroma", "qdrant", "mem0", "supermemory", "chatgpt", "claude", "memory.jsonl"])(
  "browsers read %s as the command line does",
  async (name) => {
    const path = join(FIXTURES, name.includes(".") ? name : `${name}.json`);
    const source = await openSource(path);
    const read = await partsOf(sourceOf(await openAsBlob(path)));
    expect(read).toEqual(await partsOf(source));
    await source.close();
    expect(read.length).toBeGreaterThan(0);
  },
);

it.each(["", "abc", "Köln ✈️", "\ud800", "x".repeat(200)])("browsers make the same hash of %j", (text) => {
  const [here, there] = [createHashInBrowser("sha256"), createHash("sha256")].map((hash) =>
    hash.update(text).update("\n").digest("hex"),
  );
  expect(here).toBe(there);
});

/** Takes away what Node has and browsers have not. */
function asInBrowsers(): void {
  vi.stubGlobal("Buffer", undefined);
  onTestFinished(() => void vi.unstubAllGlobals());
}

it.each(["mine", "Köln ✈️", "x".repeat(256), "ü".repeat(129), "a\u0000b", "\ud800", ""])(
  "browsers give a memory that was known as %j the external id that the command line gives it",
  (externalId) => {
    const memory: Imported = { sourceId: "mem_1", location: "line 2", text: "tea", metadata: {}, externalId };
    const here = externalIdOf(memory);
    asInBrowsers();
    expect(externalIdOf(memory)).toBe(here);
  },
);

/** Imports lines as the portal does. The server refuses the texts that have "bad" in them. */
async function imported(lines: readonly object[]): Promise<{ texts: string[]; progress: Progress }> {
  const texts: string[] = [];
  let progress = NOTHING;
  const storeBatch = async ({ memories = [] }: { memories?: { text?: string }[] }) => {
    const bad = memories.findIndex(({ text = "" }) => text.includes("bad"));
    if (bad >= 0) {
      const value = { fieldViolations: [{ field: `memories[${bad}].text` }] };
      throw new ConnectError("no", Code.InvalidArgument, undefined, [{ desc: BadRequestSchema, value }]);
    }
    texts.push(...memories.map(({ text = "" }) => text));
    const results = memories.map(() => ({ result: { case: "stored" as const, value: {} } }));
    return create(StoreBatchResponseSchema, { results });
  };
  const file = new File([lines.map((line) => JSON.stringify(line)).join("\n")], "lines.jsonl");
  await importFile(file, {
    server: { storeBatch: storeBatch as never },
    namespace: "n",
    signal: new AbortController().signal,
    onProgress: (next) => (progress = next),
  });
  return { texts, progress };
}

it("the portal stores what is beside memories that cannot be stored", async () => {
  const deep = JSON.parse(`${'{"a":'.repeat(20)}1${"}".repeat(20)}`);
  const { texts, progress } = await imported([
    { text: "one" },
    { text: "bad" },
    { text: "x".repeat(65_537) },
    { text: "deep", metadata: deep },
    { text: "two" },
    { text: "worse than bad" },
  ]);
  expect(texts).toEqual(["one", "two"]);
  expect(progress).toMatchObject({ total: 6, done: 6, stored: 2, refused: 4 });
  expect(progress.problems).toEqual([
    "line 3: text is 65,537 bytes; the limit is 65,536",
    "line 4: metadata is more than 16 levels deep",
    "line 2: no",
    "line 6: no",
  ]);
});

it("the portal says that a memory would be lost whose id comes before", async () => {
  const { texts, progress } = await imported([
    { id: "1", text: "one" },
    { id: "1", text: "one" },
    { id: "1", text: "another" },
  ]);
  expect(texts).toEqual(["one", "one"]);
  expect(progress.problems).toEqual(["line 3: id comes before in the file, with another content"]);
});
