import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { exactSearch, MetricKind } from "usearch";
import { systemClock } from "../dist/src/concurrency/clock.js";
import { openEmbedder } from "../dist/src/embedding/open.js";
import { openIndexes } from "../dist/src/index/open.js";
import { openUsearch, type Usearch } from "../dist/src/index/vectors/usearch.js";
import { Replica } from "../dist/src/memory/log/replica.js";
import { parseFilter } from "../dist/src/memory/requests/filter.js";
import { openLocal } from "../dist/src/storage/local/open.js";
import { seeded } from "../test/simulation/time.js";
import { pythonEnvironment } from "./compare/python-environment.js";
import { machine, percentile, timed } from "./machine.js";
import { question, sentence } from "./sentences.js";

// Measures recalls with a filter: what share of the truly nearest that match they find, and how long they take,
// when one memory in 1.1 to 100,000 matches. Vectors are those of real sentences with noise added. Beside it runs
// pgvector with the same vectors and filters, if Python is installed; --alone leaves it out.
//
//   npm run bench -- filter [--memories 50000] [--full] [--alone]

const CACHE = fileURLToPath(new URL("./.cache", import.meta.url));
const PGVECTOR = fileURLToPath(new URL("./python/pgvector_filter.py", import.meta.url));
const DIMENSIONS = 384;
const SENTENCES = 5_000;
const QUERIES = 200;
const TOP_K = 10;
const BATCH = 512;
const NOISE = 0.5;
/** Values of the filtered field are below this, evenly. */
const VALUES = 1_000_000;
const MANY = [1.1, 2, 5, 10, 30, 100, 1_000, 10_000, 100_000];

const option = (name: string) => process.argv.indexOf(`--${name}`);
const sizes =
  option("full") >= 0
    ? [50_000, 1_000_000]
    : [option("memories") < 0 ? 50_000 : Number(process.argv[option("memories") + 1])];

interface Row {
  readonly matching: number;
  readonly recall: number;
  readonly ms: readonly number[];
}

console.log(machine());
for (const memories of sizes) await measure(memories);

async function measure(memories: number): Promise<void> {
  const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), "recalld-filter-"));
  const random = seeded(1);
  const oneIn = MANY.filter((many) => many < memories);
  const base = await embedAll(
    Array.from({ length: SENTENCES }, (_, i) => sentence(i * 17)),
    folder,
  );
  const vectors = new Float32Array(memories * DIMENSIONS);
  for (let i = 0; i < memories; i++) vectors.set(near(base, random), i * DIMENSIONS);
  const values = Float64Array.from({ length: memories }, () => Math.floor(random() * VALUES));
  const asked = await embedAll(
    Array.from({ length: QUERIES }, (_, i) => question(i)),
    folder,
  );
  const queries = asked.map((vector) => near([vector], random));
  console.log(`\n${memories.toLocaleString("en-US")} memories, ${QUERIES} queries, the ${TOP_K} nearest`);
  const truths = oneIn.map((many) => truthOf({ vectors, values, queries, bound: VALUES / many }));
  const ours = await recalld({ folder, vectors, values, queries, truths, oneIn });
  const theirs =
    option("alone") < 0 ? pgvector({ folder, vectors, values, queries, truths, oneIn }) : undefined;
  console.log("one in    matching  recalld: recall@10  p50 ms  p99 ms   pgvector: recall@10  p50 ms  p99 ms");
  for (const [i, many] of oneIn.entries()) {
    console.log(
      `${String(many).padEnd(9)} ${formatRow(ours[i] as Row, true)}   ${formatRow(theirs?.[i], false)}`,
    );
  }
  rmSync(folder, { recursive: true, force: true });
}

interface Data {
  readonly folder: string;
  readonly vectors: Float32Array;
  readonly values: Float64Array;
  readonly queries: readonly Float32Array[];
  /** Numbers of memories of which one matches, by filter. */
  readonly oneIn: readonly number[];
  /** Truly nearest memories and number of those that match, by filter. */
  readonly truths: readonly Truth[];
}

interface Truth {
  readonly matching: number;
  readonly nearest: readonly ReadonlySet<number>[];
}

async function recalld({ folder, vectors, values, queries, truths, oneIn }: Data): Promise<Row[]> {
  const storage = await openLocal({ dataDir: join(folder, "data") });
  const logId = await storage.names.create({ accountId: "acc_bench", namespace: "n" });
  for (let from = 1; from <= values.length; from += BATCH) {
    const size = Math.min(BATCH, values.length - from + 1);
    const entries = Array.from({ length: size }, (_, i) => entry(from + i, { vectors, values }));
    await storage.log.append({ logId, from, entries });
  }
  const usearch = openUsearch({
    dimensionsOf: () => DIMENSIONS,
    clock: systemClock,
    backlogBytesMax: 1e9,
  });
  let index: ReturnType<Usearch["open"]> | undefined;
  const indexes = openIndexes({
    vectors: {
      ...usearch,
      open: (...args: Parameters<typeof usearch.open>) => {
        const opened = usearch.open(...args);
        index = opened;
        return opened;
      },
    },
    folder: join(folder, "index"),
    clock: systemClock,
    onTrouble: console.error,
  });
  const replica = new Replica(logId, {
    ...storage,
    indexes,
    clock: systemClock,
    indexMemoryBytesMax: Number.MAX_SAFE_INTEGER,
  });
  const pauses = monitorEventLoopDelay({ resolution: 1 });
  pauses.enable();
  const built = await timed(() => replica.current());
  await (index as ReturnType<Usearch["open"]> | undefined)?.settled();
  // Nothing is sealed any more, as in a namespace that is not being filled.
  await (index as ReturnType<Usearch["open"]> | undefined)?.settled();
  pauses.disable();
  const each = Math.round(replica.bytes / values.length);
  const pauseMs = (pauses.max / 1e6).toFixed(0);
  console.log(`all indexes: ${Math.round(built.ms)} ms, ${each} bytes each, longest pause ${pauseMs} ms`);
  const rows: Row[] = [];
  for (const [i, many] of oneIn.entries()) {
    const { matching, nearest } = truths[i] as Truth;
    const ms: number[] = [];
    let found = 0;
    await recall(replica, queries[0] as Float32Array, VALUES / many);
    for (const [q, query] of queries.entries()) {
      // No two filters are the same.
      const { ms: took, value } = await timed(() => recall(replica, query, VALUES / many - q / QUERIES / 2));
      ms.push(took);
      found += value.filter((number) => nearest[q]?.has(number)).length;
    }
    rows.push({ matching, ms, recall: found / countOf(nearest) });
  }
  await replica.close();
  await usearch.close();
  await storage.close();
  return rows;
}

function countOf(nearest: readonly ReadonlySet<number>[]): number {
  return nearest.reduce((sum, { size }) => sum + size, 0);
}

function filterBelow(bound: number) {
  const filter = parseFilter({ r: { $lt: bound } });
  if (filter === undefined) throw new Error("the filter is empty");
  return filter;
}

async function recall(replica: Replica, query: Float32Array, bound: number): Promise<number[]> {
  await replica.current();
  const { ranked } = await replica.searching(async (search) => {
    await search.select(filterBelow(bound));
    return search.best({ vectors: [query], wanted: TOP_K });
  });
  return ranked.map(({ sequence }) => sequence);
}

/** Finds the truly nearest of those below a bound, by comparing all. */
function truthOf({
  vectors,
  values,
  queries,
  bound,
}: Pick<Data, "vectors" | "values" | "queries"> & { bound: number }): Truth {
  const matching = [...values.keys()].filter((i) => (values[i] as number) < bound);
  const rows = new Float32Array(matching.length * DIMENSIONS);
  for (const [at, i] of matching.entries()) {
    rows.set(vectors.subarray(i * DIMENSIONS, (i + 1) * DIMENSIONS), at * DIMENSIONS);
  }
  const nearest = queries.map((query) => {
    if (matching.length === 0) return new Set<number>();
    const wanted = Math.min(TOP_K, matching.length);
    const { keys } = exactSearch(rows, query.slice(), DIMENSIONS, wanted, MetricKind.Cos, 1);
    return new Set(Array.from(keys, (key) => (matching[Number(key)] as number) + 1));
  });
  return { matching: matching.length, nearest };
}

function pgvector({ folder, vectors, values, queries, truths, oneIn }: Data): Row[] {
  const python = pythonEnvironment(join(CACHE, "python"));
  const database = join(folder, "pgvector");
  mkdirSync(database);
  const paths = ["vectors", "queries", "values"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(paths[0], vectors);
  writeFileSync(paths[1], Buffer.concat(queries.map(({ buffer }) => Buffer.from(buffer))));
  writeFileSync(paths[2], values);
  const args = [PGVECTOR, database, ...paths, ...oneIn.map((many) => String(VALUES / many))];
  const { status, stdout } = spawnSync(python, args, { stdio: ["ignore", "pipe", 2], maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(`${PGVECTOR} ended with ${status}`);
  const lines = String(stdout).trim().split("\n");
  return lines.map((line, i) => {
    const { found, ms } = JSON.parse(line) as { found: number[][]; ms: number[] };
    const { matching, nearest } = truths[i] as Truth;
    const hits = found.reduce((sum, ids, q) => sum + ids.filter((id) => nearest[q]?.has(id)).length, 0);
    return { matching, ms, recall: hits / countOf(nearest) };
  });
}

function formatRow(row: Row | undefined, isOurs: boolean): string {
  if (row === undefined) return "";
  const figures = [
    row.recall.toFixed(4).padStart(18),
    ...[0.5, 0.99].map((p) => percentile(row.ms, p).toFixed(1).padStart(7)),
  ];
  return `${isOurs ? `${String(row.matching).padStart(8)} ` : ""}${figures.join(" ")}`;
}

function near(base: readonly Float32Array[], random: () => number): Float32Array {
  const centre = base[Math.floor(random() * base.length)] as Float32Array;
  // Uniform numbers of this width together have the wanted length.
  const width = 2 * NOISE * Math.sqrt(3 / DIMENSIONS);
  const moved = centre.map((x) => x + (random() - 0.5) * width);
  const length = Math.hypot(...moved);
  return moved.map((x) => x / length);
}

function entry(number: number, { vectors, values }: Pick<Data, "vectors" | "values">) {
  const id = `mem_${String(number).padStart(26, "0")}`;
  const metadata = JSON.stringify({ source: "chat", user: `user-${number % 5_000}`, r: values[number - 1] });
  const vector = vectors.slice((number - 1) * DIMENSIONS, number * DIMENSIONS);
  const common = { op: "store", opId: id, id, text: sentence(number), metadata, tokens: 12 } as const;
  return { ...common, vectors: vector, createdAtMs: 1_700_000_000_000 + number };
}

async function embedAll(texts: readonly string[], folder: string): Promise<Float32Array[]> {
  const embedder = await openEmbedder({ model: "bundled", modelsDir: folder, workers: 1 });
  const embedded: Float32Array[] = [];
  for (const text of texts) embedded.push((await embedder.embed({ text, field: "text", owner: "" })).vectors);
  await embedder.close();
  return embedded;
}
