import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "lmdb";
import { openLocal } from "../../src/storage/local/open.js";
import { CONTRACTS } from "./all.js";
import type { Harm, TestDatabase } from "./database.js";

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
