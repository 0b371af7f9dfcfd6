import { createHash } from "node:crypto";
import { openAsBlob } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readAsFound } from "../../cli/import/formats.js";
import type { Read, Source } from "../../cli/import/imported.js";
import { openSource } from "../../cli/import/source-file.js";
import { sourceOf } from "../../web/src/transfer/file-source.js";
import { createHash as createHashInBrowser } from "../../web/src/transfer/node-crypto.js";

const FIXTURES = join(import.meta.dirname, "../fixtures/imports");

async function partsOf(source: Source): Promise<Read[]> {
  const parts: Read[] = [];
  for await (const part of (await readAsFound(source)).read) parts.push(part);
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
