import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "lmdb";
import { openLocal } from "../../src/storage/local/open.js";
import { CONTRACTS } from "./all.js";
import type { TestDatabase } from "./database.js";

async function makeLocal(): Promise<TestDatabase> {
  const dataDir = await mkdtemp(join(tmpdir(), "recalld-local-"));
  return {
    open: () => openLocal({ dataDir }),
    remove: () => rm(dataDir, { recursive: true }),
    damage: async ({ incarnation, sequence, how }) => {
      const root = open({ path: join(dataDir, "recalld.mdb") });
      const entries = root.openDB<Buffer>("log", { encoding: "binary" });
      if (how === "remove") await entries.remove([incarnation, sequence]);
      else await entries.put([incarnation, sequence], Buffer.from("spoilt"));
      await root.close();
    },
  };
}

for (const contract of CONTRACTS) contract("local", makeLocal);
