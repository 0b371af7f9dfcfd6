import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../dist/src/concurrency/clock.js";
import { openIndexes } from "../dist/src/index/open.js";
import { openUsearch } from "../dist/src/index/vectors/usearch.js";
import type { Index, Indexes } from "../src/memory/ports/index.js";
import { aMemory } from "../test/contract/samples.js";
import { machine, percentile, timed } from "./machine.js";
import { type MadeUp, madeUp } from "./made-up.js";

// Measures the index of words and fields of one namespace at several sizes, with made-up texts whose words are as unevenly
// common as those of a language: how long it takes to build, its bytes for each memory, how long searches
// take, and for how long it holds the main thread.
//
//   npm run bench -- words [--memories 10000,100000]

const at = process.argv.indexOf("--memories");
const sizes = (at < 0 ? "10000,100000" : (process.argv[at + 1] ?? "")).split(",").map(Number);

/** Number of texts added at a time, as a replica reads them. */
const BATCH = 512;
const QUERIES = 300;

/** Watches for how long other work of this thread has to wait. */
function watchLoop(): () => number {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last - 1);
    last = performance.now();
  }, 1);
  return () => {
    clearInterval(timer);
    return longest;
  };
}

async function build(index: Index, memories: number, { text }: MadeUp): Promise<number> {
  let ms = 0;
  for (let from = 0; from < memories; from += BATCH) {
    const length = Math.min(BATCH, memories - from);
    const rows = Array.from({ length }, (_, i) => ({
      sequence: from + i + 1,
      opId: "",
      memory: aMemory({ text: text(), metadata: "{}" }),
    }));
    const applied = { sequence: from + length, opId: "last" };
    ms += (await timed(() => index.add(rows, applied))).ms;
  }
  return ms;
}

async function search(indexes: Indexes, index: Index, queries: readonly string[]): Promise<number[]> {
  const times: number[] = [];
  for (const query of queries) {
    times.push((await timed(() => indexes.searchWords([index], { text: query, limit: 50 }))).ms);
  }
  return times;
}

async function measure(memories: number): Promise<void> {
  const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), "recalld-words-"));
  const vectors = openUsearch({ dimensionsOf: () => 1, clock: systemClock });
  const indexes = openIndexes({ vectors, folder, clock: systemClock, onTrouble: console.error });
  const index = indexes.open("log");
  const texts = madeUp({ memories, seed: 1 });
  const longest = watchLoop();
  const builtMs = await build(index, memories, texts);
  const bytes = index.bytes / memories;
  const queries = Array.from({ length: QUERIES }, texts.question);
  await search(indexes, index, queries.slice(0, 50));
  const times = await search(indexes, index, queries);
  const common = await search(
    indexes,
    index,
    Array.from({ length: 20 }, () => "w1"),
  );
  const different = Array.from({ length: 10_000 }, (_, i) => `w${i.toString(36)}`).join(" ");
  const [hostileMs = 0] = await search(indexes, index, [different]);
  const gone = Array.from({ length: memories / 10 }, (_, i) => i * 10 + 1);
  await index.remove(gone);
  const after = await search(indexes, index, queries);
  const closed = await timed(() => index.close({ retainFiles: true }));
  const again = indexes.open("log");
  const restored = await timed(() => again.restore());
  const p = (values: readonly number[], share: number) => `${percentile(values, share).toFixed(2)} ms`;
  console.log(`${memories.toLocaleString("en-US")} memories`);
  console.log(`  built in ${(builtMs / 1000).toFixed(1)} s, ${bytes.toFixed(0)} bytes a memory`);
  console.log(`  search p50 ${p(times, 0.5)}, p95 ${p(times, 0.95)}, p99 ${p(times, 0.99)}`);
  console.log(`  with a tenth deleted p50 ${p(after, 0.5)}, p99 ${p(after, 0.99)}`);
  console.log(`  the commonest word ${p(common, 0.5)}; 10,000 different words ${hostileMs.toFixed(0)} ms`);
  console.log(`  closed in ${closed.ms.toFixed(0)} ms, restored in ${restored.ms.toFixed(0)} ms`);
  console.log(`  longest wait of the main thread, making the texts included: ${longest().toFixed(0)} ms`);
  await again.close({ retainFiles: false });
  rmSync(folder, { recursive: true });
}

console.log(`${machine()}\n`);
for (const memories of sizes) await measure(memories);
