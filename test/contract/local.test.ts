import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "lmdb";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { openLocal } from "../../src/storage/local/open.js";
import { CONTRACTS } from "./all.js";
import { type Harm, type TestDatabase, useDatabase } from "./database.js";
import { anLogId, memories } from "./samples.js";

async function makeLocal(): Promise<TestDatabase> {
  const dataDir = await mkdtemp(join(tmpdir(), "recalld-local-"));
  return {
    open: () => openLocal({ dataDir }),
    remove: () => rm(dataDir, { recursive: true }),
    damage: async ({ logId, sequence, how }) => {
      const root = open({ path: join(dataDir, "recalld.mdb") });
      const entries = root.openDB<Buffer>("log", { encoding: "binary" });
      if (how === "remove") await entries.remove([logId, sequence]);
      else await entries.put([logId, sequence], harmed(entries.get([logId, sequence]), how));
      await root.close();
    },
    setFormat: async (record) => {
      const root = open({ path: join(dataDir, "recalld.mdb") });
      const meta = root.openDB<object, string>("meta", { encoding: "json" });
      if (record === undefined) await meta.remove("format");
      else await meta.put("format", record);
      await root.close();
    },
  };
}

/** Harms a record, which consists of its header's length, its header and its vectors. */
function harmed(bytes: Uint8Array | undefined, how: Harm): Buffer {
  const record = Buffer.from(bytes ?? []);
  if (how === "spoil") return Buffer.from("spoilt");
  const end = 4 + record.readUInt32LE();
  const vectors = Buffer.from(record.subarray(end));
  const { sums, ...fields } = JSON.parse(record.toString("utf8", 4, end));
  if (how === "vectors") vectors[0] = (vectors[0] ?? 0) ^ 1;
  if (how === "text") fields.text += ".";
  if (how === "tokens") fields.tokens += 1;
  if (how === "label") fields.externalId = "other";
  if (how === "supersedes") fields.supersedes = [7];
  const header = Buffer.from(JSON.stringify({ ...fields, ...(how !== "unsum" && { sums }) }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.byteLength);
  return Buffer.concat([length, header, vectors]);
}

for (const contract of CONTRACTS) contract("local", makeLocal);

describe("reads of the embedded log that wait for each other", () => {
  const used = useDatabase(makeLocal);
  const logId = anLogId();
  const readFrom = async (limit: number): Promise<unknown> => {
    const { log } = used.storage;
    return log.read({ logId, from: 1, limit, projection: "header" });
  };
  /** Has every read take its time. */
  const makeOverdue = (byMs = 100) => {
    let ms = performance.now();
    const late = vi.spyOn(performance, "now").mockImplementation(() => (ms += byMs));
    onTestFinished(() => late.mockRestore());
  };
  beforeAll(() => used.storage.log.append({ logId, from: 1, entries: memories(200) }));

  it("are short, but many in a row: other work runs in between", async () => {
    let iterations = 0;
    let isOver = false;
    const onIteration = () => {
      iterations++;
      if (!isOver) setImmediate(onIteration);
    };
    setImmediate(onIteration);
    makeOverdue(1);
    for (let read = 0; read < 40; read++) await readFrom(1);
    isOver = true;
    expect(iterations).toBeGreaterThan(10);
  });

  it.each([
    ["read long logs", () => readFrom(256)],
    [
      "read the pages of lists",
      () => used.storage.log.fetch({ logId, sequences: [1, 2], projection: "text" }),
    ],
  ])("are of few entries, as of a recall, before those of all who %s", async (_, readLong) => {
    makeOverdue();
    const ended: string[] = [];
    const long = Array.from({ length: 20 }, () => readLong().then(() => ended.push("long")));
    const fetched = used.storage.log.fetch({ logId, sequences: [7], projection: "header" });
    const few = [fetched, readFrom(16)].map((read) => read.then(() => ended.push("few")));
    await Promise.all([...long, ...few]);
    expect(ended.slice(0, 4).filter((what) => what === "few")).toHaveLength(2);
  });

  it("are of many entries soon, however many others there are", async () => {
    makeOverdue();
    let isRead = false;
    let others = 0;
    const readOthers = async () => {
      for (; !isRead && others < 1_000; others++) await readFrom(16);
    };
    const all = Array.from({ length: 5 }, readOthers);
    await readFrom(256);
    isRead = true;
    await Promise.all(all);
    expect(others).toBeLessThan(50);
  });
});
