import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Figure, figure, ratio } from "./compare/figures.js";
import { interleaved } from "./compare/interleaved.js";
import { Recalld } from "./compare/recalld.js";
import type { Load } from "./compare/system.js";
import { table } from "./compare/table.js";
import { openCorpus } from "./compare/texts.js";
import { machine, percentile } from "./machine.js";

// Compares recalls by meaning and words with recalls by meaning alone, in turns, at several sizes.
//
//   npm run bench -- hybrid [--memories 1000,10000]

const CACHE = fileURLToPath(new URL(".cache", import.meta.url));
const at = process.argv.indexOf("--memories");
const sizes = (at < 0 ? "1000,10000,50000,100000" : (process.argv[at + 1] ?? "")).split(",").map(Number);
const ROUNDS = 7;
const SECONDS = 2.5;
const RECALLS = 400;
const WARM_UP_RECALLS = 100;
/** Recalls of all sizes together ask different questions. */
const QUESTIONS = 100_000;
const MODES = { COSINE: undefined, HYBRID: "HYBRID" } as const;

mkdirSync(CACHE, { recursive: true });
const folder = mkdtempSync(join(process.env.BENCH_DIR ?? CACHE, "hybrid-"));
const model = { model: "bundled", modelsDir: CACHE };
const largest = Math.max(...sizes);
const corpus = await openCorpus({
  ...model,
  folder: CACHE,
  workers: 1,
  embedded: largest,
  texts: largest + QUESTIONS,
});
const recalld = await Recalld.open({ folder, corpus, model, namesFolder: folder });
const rows: string[][] = [];
let question = 0;
try {
  await recalld.start();
  let held = 0;
  for (const memories of sizes) {
    await recalld.fill({ from: held, to: memories });
    held = memories;
    for (const mode of Object.values(MODES)) await recall(mode, { callers: 1, count: WARM_UP_RECALLS });
    for (const callers of [1, 16]) rows.push([memories.toLocaleString("en-US"), ...(await row(callers))]);
  }
} finally {
  await recalld.stop();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${machine()}\n`);
const head = ["Memories", "Callers", "COSINE, p50", "HYBRID, p50", "HYBRID over COSINE", "p99 over p99"];
console.log(table(head, rows));

async function row(callers: number): Promise<string[]> {
  const loads = await interleaved(Object.keys(MODES), ROUNDS, (name) =>
    recall(MODES[name as keyof typeof MODES], { callers, count: RECALLS }),
  );
  const at = (share: number, name: keyof typeof MODES) =>
    (loads[name] ?? []).map(({ latenciesMs }) => percentile(latenciesMs, share));
  const ms = (values: readonly number[]) => `${figure(values).median} ms`;
  return [
    String(callers),
    ms(at(0.5, "COSINE")),
    ms(at(0.5, "HYBRID")),
    formatFigure(ratio(at(0.5, "HYBRID"), at(0.5, "COSINE"))),
    formatFigure(ratio(at(0.99, "HYBRID"), at(0.99, "COSINE"))),
  ];
}

function recall(mode: "HYBRID" | undefined, load: { callers: number; count: number }): Promise<Load> {
  const from = question;
  question += load.count;
  return recalld.recall({ ...load, from, secondsMax: SECONDS, ...(mode && { mode }) });
}

function formatFigure({ median, lowest, highest }: Figure): string {
  return `${median.toFixed(2)} (${lowest.toFixed(2)} to ${highest.toFixed(2)})`;
}
