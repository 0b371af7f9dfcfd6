import { appendFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { exactSearch, MetricKind } from "usearch";
import { systemClock } from "../dist/src/concurrency/clock.js";
import { openEmbedder } from "../dist/src/embedding/open.js";
import { openIndexes } from "../dist/src/index/open.js";
import { openUsearch, type Usearch } from "../dist/src/index/vectors/usearch.js";
import { drop } from "../dist/src/memory/erasure/drop.js";
import { Idempotency } from "../dist/src/memory/idempotency/idempotency.js";
import { Namespaces } from "../dist/src/memory/log/namespaces.js";
import { ModelVersions } from "../dist/src/memory/models/model-versions.js";
import { deleteMemory } from "../dist/src/memory/operations/delete-memory.js";
import { openLocal } from "../dist/src/storage/local/open.js";
import { Pins } from "../src/memory/models/pin.js";
import type { Index } from "../src/memory/ports/index.js";
import type { Stored } from "../src/memory/ports/log.js";
import { entriesOf } from "../test/contract/samples.js";
import { seeded } from "../test/simulation/time.js";
import { percentile, timed } from "./machine.js";
import { madeUp } from "./made-up.js";
import type { ScaleFigure } from "./scale/results.js";
import { measureWords } from "./scale/words.js";
import { question, sentence } from "./sentences.js";

const DIMENSIONS = 384;
const SENTENCES = 20_000;
const QUERIES = 200;
const BATCH = 512;
const DELETES = 10_000;
/** Length of the noise added to a vector of length 1. Neighbours stay neighbours, and no two are the same. */
const NOISE = 0.5;

const [phase, dataDir = "", perNamespaceText, countText] = process.argv.slice(2);
const perNamespace = Number(perNamespaceText);
const count = Number(countText);
mkdirSync(dataDir, { recursive: true });
const storage = await openLocal({ dataDir });
// As much as the service lets wait with its default INDEX_MEMORY_BYTES_MAX.
const backlogBytesMax = 1e9;
const usearch = openUsearch({
  dimensionsOf: () => DIMENSIONS,
  clock: systemClock,
  backlogBytesMax,
});
/** The vectors of the index that was opened last. */
let index: ReturnType<Usearch["open"]> | undefined;
const vectors = {
  ...usearch,
  open: (...args: Parameters<typeof usearch.open>) => {
    const opened = usearch.open(...args);
    index = opened;
    return opened;
  },
};
const indexFolder = join(dataDir, "index");
const opened = openIndexes({ vectors, folder: indexFolder, clock: systemClock, onTrouble: console.error });
/** The index that was opened last. */
let rows: Index | undefined;
const openIndex = opened.open.bind(opened);
const indexes = Object.assign(opened, {
  open: (logId: string) => {
    rows = openIndex(logId);
    return rows;
  },
});
// Vectors are made beforehand, so no text is embedded here.
const model = { id: "bundled", revision: "", dtype: "q8", dimensions: DIMENSIONS };
const modelVersions = new ModelVersions(new Pins([{ modelVersion: "", model }]), undefined, {
  systemRecords: storage.systemRecords,
  clock: systemClock,
  openModel: () => Promise.reject(new Error("no model")),
  onTrouble: console.error,
});
const { log, names, secondaryIndexes, erasures } = storage;
const namespaces = new Namespaces({
  log,
  names,
  secondaryIndexes,
  modelVersions,
  erasures,
  indexes,
  clock: systemClock,
  indexMemoryBytesMax: 8e9,
  onTrouble: console.error,
});
const scopeOf = (n: number) => ({ accountId: "acc_bench", namespace: `n${n}` });

const quota = { charge: async () => {}, verify: async () => {}, refund: async () => {}, count: () => {} };
const eraseCalls = async () => {};
const common = { log, names, secondaryIndexes, erasures, modelVersions, indexes, clock: systemClock };
const idempotency = new Idempotency({ ...common, claims: storage.claims, exclusive: true });
const ports = { ...common, namespaces, quota, idempotency, eraseCalls };

const phases: Record<string, () => Promise<void>> = {
  fill,
  rebuild,
  restart,
  words: recallByWords,
  forget,
  killed,
  unbuilt,
  visit,
};
await phases[phase as string]?.();
await namespaces.close();
await storage.close();

async function fill(): Promise<void> {
  const base = await embedAll(Array.from({ length: SENTENCES }, (_, i) => sentence(i * 17)));
  const random = seeded(1);
  const { text } = madeUp({ memories: perNamespace, seed: 1 });
  const { ms } = await timed(async () => {
    for (let n = 0; n < count; n++) {
      const logId = await storage.names.create(scopeOf(n));
      for (let from = 1; from <= perNamespace; from += BATCH) {
        const size = Math.min(BATCH, perNamespace - from + 1);
        const entries = Array.from({ length: size }, (_, i) =>
          entry(from + i, { text: text(), vectors: near(base, random) }),
        );
        await storage.log.append({ logId, from, entries });
        progress(n * perNamespace + from, count * perNamespace);
      }
    }
  });
  report("written to the log, per second", (count * perNamespace) / (ms / 1000));
}

/** Opens a namespace without index files, entirely from the log, while another namespace serves. */
async function rebuild(): Promise<void> {
  rmSync(indexFolder, { recursive: true, force: true });
  const queries = await queryVectors();
  const before = memory();
  const small = { accountId: "acc_bench", namespace: "small" };
  const other = await storage.names.create(small);
  await storage.log.append({
    logId: other,
    from: 1,
    entries: [entry(1, { text: "small", vectors: queries[0] as Float32Array })],
  });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const others: number[] = [];
  let rebuilding = true;
  const serving = (async () => {
    while (rebuilding) {
      others.push((await timed(() => recallFrom(small, queries[1] as Float32Array, 5))).ms);
      await systemClock.sleep(5);
    }
  })();
  delay.enable();
  const first = await timed(() => recallFrom(scopeOf(0), queries[0] as Float32Array, 10));
  delay.disable();
  rebuilding = false;
  await serving;
  report("first recall, without index files, s", first.ms / 1000);
  report("event loop delay meanwhile, p99, ms", delay.percentile(99) / 1e6);
  report("event loop delay meanwhile, max, ms", delay.max / 1e6);
  report("another namespace's search meanwhile, p99, ms", percentile(others, 0.99));
  const early = await timed(() => recallFrom(scopeOf(0), queries[2] as Float32Array, 10));
  report("a recall while most is compared one by one, ms", early.ms);
  const sealing = await timed(() => (index as ReturnType<Usearch["open"]>).settled());
  report("all sealed after, s", (first.ms + sealing.ms) / 1000);
  report("resident bytes per memory", (memory() - before) / perNamespace);
  await searches(queries);
}

async function restart(): Promise<void> {
  const queries = await queryVectors();
  const first = await timed(() => recallFrom(scopeOf(0), queries[0] as Float32Array, 10));
  report("first recall, from its files, s", first.ms / 1000);
}

async function recallByWords(): Promise<void> {
  const bytes = () => (rows?.bytes ?? 0) / perNamespace;
  const { question } = madeUp({ memories: perNamespace, seed: 3 });
  const queries = (await queryVectors()).map((vector) => ({ text: question(), vector }));
  await measureWords({ namespaces, scope: scopeOf(0), queries, bytes, report });
}

/** Deletes memories that lie far apart, sixteen at a time, and then kills its own process. */
async function forget(): Promise<void> {
  const [query] = (await queryVectors()) as [Float32Array];
  await recallFrom(scopeOf(0), query, 10);
  await deletes({ count: Math.min(DELETES, perNamespace / 10), first: 1, atOnce: 16 });
  process.kill(process.pid, "SIGKILL");
}

async function killed(): Promise<void> {
  const queries = await queryVectors();
  const first = await timed(() => recallFrom(scopeOf(0), queries[0] as Float32Array, 10));
  report("first recall, from its files, s", first.ms / 1000);
  const again: number[] = [];
  for (const query of queries) again.push((await timed(() => recallFrom(scopeOf(0), query, 10))).ms);
  report("search and fetch, p50, ms", percentile(again, 0.5));
}

/** Deletes and drops while the index is built without files. Neither waits for that. */
async function unbuilt(): Promise<void> {
  rmSync(indexFolder, { recursive: true, force: true });
  const [query] = (await queryVectors()) as [Float32Array];
  const recalled = recallFrom(scopeOf(0), query, 10).catch(() => {});
  await systemClock.sleep(5000);
  await deletes({ count: 100, first: 2, atOnce: 1 });
  const dropped = await timed(() => drop(ports, scopeOf(0), { force: true }));
  report("dropped, in s", dropped.ms / 1000);
  await recalled;
}

async function deletes({ count, first, atOnce }: { count: number; first: number; atOnce: number }) {
  const { accountId, namespace } = scopeOf(0);
  const caller = { accountId, keyHash: "", access: "full" } as const;
  const step = Math.floor(perNamespace / count);
  const ms: number[] = [];
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const all = await timed(async () => {
    let next = 0;
    const one = async () => {
      while (next < count) {
        const id = idOf(first + next++ * step);
        ms.push((await timed(() => deleteMemory(ports, { caller, namespace, id }))).ms);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, one));
  });
  report(`deletes a second, ${atOnce} at a time`, count / (all.ms / 1000));
  report("delete, p50, ms", percentile(ms, 0.5));
  report("delete, p99, ms", percentile(ms, 0.99));
  report("delete, max, ms", Math.max(...ms));
  report("event loop delay meanwhile, max, ms", delay.max / 1e6);
}

/** Opens many small namespaces once each, then some of them again. */
async function visit(): Promise<void> {
  const [query] = (await queryVectors()) as [Float32Array];
  const before = memory();
  const opening: number[] = [];
  for (let n = 0; n < count; n++) opening.push((await timed(() => recallFrom(scopeOf(n), query, 5))).ms);
  report("namespace opened and searched, p50, ms", percentile(opening, 0.5));
  report("namespace opened and searched, p99, ms", percentile(opening, 0.99));
  report("resident bytes per memory", (memory() - before) / (count * perNamespace));
  const again: number[] = [];
  for (let i = 0; i < 2000; i++)
    again.push((await timed(() => recallFrom(scopeOf((i * 7919) % count), query, 5))).ms);
  report("searched again, p50, ms", percentile(again, 0.5));
  report("searched again, p99, ms", percentile(again, 0.99));
}

async function searches(queries: readonly Float32Array[]): Promise<void> {
  const truth = await exactNearest(queries, 10);
  const ms: number[] = [];
  let hits = 0;
  for (let round = 0; round < 5; round++) {
    for (const [i, query] of queries.entries()) {
      const found = await timed(() => searchIn(scopeOf(0), query, 10));
      ms.push(found.ms);
      if (round > 0) continue;
      const ranked = found.value.slice(0, 10);
      hits += ranked.filter((sequence) => truth[i]?.includes(sequence)).length;
    }
  }
  report("recall@10 against an exact scan", hits / (queries.length * 10));
  report("search and fetch, p50, ms", percentile(ms, 0.5));
  report("search and fetch, p99, ms", percentile(ms, 0.99));
}

/** Recalls as the service does: the nearest of the index, scored by the stored vectors. */
async function searchIn(
  scope: { accountId: string; namespace: string },
  vector: Float32Array,
  wanted: number,
): Promise<number[]> {
  const found = await namespaces.using(scope, ({ replica }) =>
    replica.searching((search) => search.best({ vectors: [vector], wanted })),
  );
  return (found?.ranked ?? []).map(({ sequence }) => sequence);
}

async function recallFrom(
  scope: { accountId: string; namespace: string },
  vector: Float32Array,
  wanted: number,
): Promise<void> {
  await namespaces.using(scope, async ({ replica }) => {
    await replica.current();
    await replica.searching((search) => search.best({ vectors: [vector], wanted }));
  });
}

/** Finds the true nearest by a scan over the log in slices. */
async function exactNearest(queries: readonly Float32Array[], limit: number): Promise<number[][]> {
  const logId = (await storage.names.find(scopeOf(0))) as string;
  const best: { sequence: number; distance: number }[][] = queries.map(() => []);
  const slice = 10_000;
  for (let from = 1; from <= perNamespace; from += slice) {
    const entries = await entriesOf(storage.log, { logId, from, limit: slice });
    const rows = new Float32Array(entries.length * DIMENSIONS);
    entries.forEach(({ entry }, i) => {
      rows.set((entry as Stored).vectors, i * DIMENSIONS);
    });
    for (const [q, query] of queries.entries()) {
      const found = exactSearch(rows, query.slice(), DIMENSIONS, limit, MetricKind.Cos, 1);
      found.keys.forEach((row, i) => {
        best[q]?.push({ sequence: from + Number(row), distance: found.distances[i] as number });
      });
    }
  }
  return best.map((each) =>
    each
      .sort((a, b) => a.distance - b.distance)
      .slice(0, limit)
      .map(({ sequence }) => sequence),
  );
}

async function queryVectors(): Promise<Float32Array[]> {
  const random = seeded(2);
  const base = await embedAll(Array.from({ length: QUERIES }, (_, i) => question(i)));
  return base.map((vector) => near([vector], random));
}

async function embedAll(texts: readonly string[]): Promise<Float32Array[]> {
  const embedder = await openEmbedder({ model: "bundled", modelsDir: dataDir, workers: 1 });
  const embedded: Float32Array[] = [];
  for (const text of texts) embedded.push((await embedder.embed({ text, field: "text", owner: "" })).vectors);
  await embedder.close();
  return embedded;
}

function near(base: readonly Float32Array[], random: () => number): Float32Array {
  const centre = base[Math.floor(random() * base.length)] as Float32Array;
  // Uniform numbers of this width together have the wanted length.
  const width = 2 * NOISE * Math.sqrt(3 / DIMENSIONS);
  const moved = centre.map((x) => x + (random() - 0.5) * width);
  const length = Math.sqrt(moved.reduce((sum, x) => sum + x * x, 0));
  return moved.map((x) => x / length);
}

function entry(i: number, content: Pick<Stored, "text" | "vectors">): Stored {
  const id = idOf(i);
  return {
    op: "store",
    opId: id,
    id,
    metadata: "{}",
    tokens: 12,
    createdAtMs: 1_700_000_000_000,
    ...content,
  };
}

function idOf(i: number): string {
  return `mem_${String(i).padStart(26, "0")}`;
}

/** Memory of the process itself, without the database's file, which the system maps and may drop. */
function memory(): number {
  (globalThis as { gc?: () => void }).gc?.();
  const kilobytes = /RssAnon:\s+(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  return Number(kilobytes) * 1024;
}

function progress(done: number, all: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${Math.round((done / all) * 100)} %`);
}

function report(what: string, value: number): void {
  const figure: ScaleFigure = { phase: phase as string, what, value };
  if (process.env.FIGURES_FILE) appendFileSync(process.env.FIGURES_FILE, `${JSON.stringify(figure)}\n`);
  console.log(`${(phase as string).padEnd(9)}${what.padEnd(48)}${value.toPrecision(4).padStart(12)}`);
}
