import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openLocal } from "../dist/src/storage/local/open.js";
import { seeded } from "../test/simulation/time.js";
import { machine, percentile, timed } from "./machine.js";
import { sentence } from "./sentences.js";

// Measures the size and the duration of a backup and of its restore into an empty folder, for each 100,000
// memories, while the database is stored to. Vectors are random and of the bundled model's length.
//
//   npm run bench -- backup [--memories 100000]

const ADMIN = fileURLToPath(new URL("../dist/src/admin.js", import.meta.url));
const DIMENSIONS = 384;
const BATCH = 512;
const PER_NAMESPACE = 10_000;
/** One memory in this many is forgotten beforehand, so that the database has free pages. */
const FORGOTTEN_EACH = 10;

const { values } = parseArgs({ options: { memories: { type: "string", default: "100000" } } });
const memories = Number(values.memories);
const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), "recalld-backup-"));
const dataDir = join(folder, "data");
const random = seeded(1);
console.log(`${count(memories)} memories in namespaces of ${count(PER_NAMESPACE)}\n${machine()}\n`);
try {
  await fill();
  await underLoad();
  restore();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function fill(): Promise<void> {
  const { log, names, systemRecords, close } = await openLocal({ dataDir });
  await systemRecords.pin({
    after: undefined,
    to: { modelVersion: "", model: { id: "bundled", revision: "", dtype: "q8", dimensions: DIMENSIONS } },
  });
  for (let n = 0; n * PER_NAMESPACE < memories; n++) {
    const logId = await names.create({ accountId: "acc_bench", namespace: `n${n}` });
    const size = Math.min(PER_NAMESPACE, memories - n * PER_NAMESPACE);
    for (let from = 1; from <= size; from += BATCH) {
      const entries = Array.from({ length: Math.min(BATCH, size - from + 1) }, (_, i) => entry(n, from + i));
      await log.append({ logId, from, entries });
    }
    const forgotten = Array.from(
      { length: Math.floor(size / FORGOTTEN_EACH) },
      (_, i) => (i + 1) * FORGOTTEN_EACH,
    );
    for (let i = 0; i < forgotten.length; i += BATCH) {
      await log.erase({ logId, sequences: forgotten.slice(i, i + BATCH) });
    }
  }
  await close();
  const { size } = statSync(join(dataDir, "recalld.mdb"));
  say(
    "the database's file",
    `${count(size)} bytes, ${each(size)}; one memory in ${FORGOTTEN_EACH} is forgotten`,
  );
}

/**
 * Copies the database as the server does. The hash and the manifest are the command's work and count in
 * `all`.
 */
async function underLoad(): Promise<void> {
  const { log, names, close, backUp } = await openLocal({ dataDir });
  if (backUp === undefined) throw new Error("this database cannot copy itself");
  const logId = await names.create({ accountId: "acc_bench", namespace: "meanwhile" });
  let next = 1;
  const store = async () => {
    const { ms } = await timed(() => log.append({ logId, from: next, entries: [entry(0, next)] }));
    next++;
    return ms;
  };
  const alone: number[] = [];
  for (let i = 0; i < 300; i++) alone.push(await store());
  let copying = true;
  const meanwhile: number[] = [];
  const loading = (async () => {
    while (copying) meanwhile.push(await store());
  })();
  const copy = await timed(() => backUp(join(folder, "copy.mdb")));
  copying = false;
  await loading;
  await close();
  const ms = (values: number[]) =>
    `p50 ${percentile(values, 0.5).toFixed(1)} ms, p99 ${percentile(values, 0.99).toFixed(1)} ms`;
  say("LMDB's copy, stored to meanwhile", seconds(copy.ms));
  say("a store, alone", ms(alone));
  say(`a store, meanwhile (${meanwhile.length})`, ms(meanwhile));
}

function restore(): void {
  const backup = join(folder, "backup");
  const backedUp = admin({ DATA_DIR: dataDir }, "backup", backup);
  const { size } = statSync(join(backup, "recalld.mdb"));
  say("the backup", `${count(size)} bytes, ${each(size)}`);
  say("recalld-admin backup, all of it", `${seconds(backedUp)}, ${eachSeconds(backedUp)}`);
  const restored = admin({ DATA_DIR: join(folder, "restored") }, "restore", backup);
  say("recalld-admin restore, all read back", `${seconds(restored)}, ${eachSeconds(restored)}`);
}

function admin(env: Record<string, string>, ...args: string[]): number {
  const startMs = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [ADMIN, ...args], { env, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return performance.now() - startMs;
}

function entry(namespace: number, n: number) {
  const id = `mem_${namespace}_${n}`;
  const vectors = Float32Array.from({ length: DIMENSIONS }, () => random() - 0.5);
  const text = sentence(namespace * PER_NAMESPACE + n);
  const given = { id, opId: id, text, metadata: "{}", vectors, tokens: 9, createdAtMs: 1_700_000_000_000 };
  return { op: "store", ...given } as const;
}

function say(what: string, figure: string): void {
  console.log(`${what.padEnd(40)}${figure}`);
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

function each(bytes: number): string {
  return `${((bytes / memories) * 0.1).toFixed(0)} MB for each 100,000`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function eachSeconds(ms: number): string {
  return `${seconds((ms / memories) * 100_000)} for each 100,000`;
}
