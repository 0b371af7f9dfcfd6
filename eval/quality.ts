import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hybridOf, MODELS, type Options, readOptions, USAGE } from "./options.js";
import { allTables, COMPARED, QUALITY, withTables } from "./page.js";
import { canCompare, comparisonIn } from "./page-compared.js";
import { Progress } from "./progress.js";
import type { Results } from "./results.js";
import { Run } from "./run.js";
import type { RunRecord } from "./run-record.js";
import { summarize } from "./summarize.js";

// Measures how well recalld finds and what its score means, on public data and through the public API.
// docs/quality.md says what is measured and how.

const HERE = fileURLToPath(new URL(".", import.meta.url));
/** Folder outside git for each run, query by query. */
const RUNS = join(HERE, ".runs");
const RESULTS = join(HERE, "results.json");
/** Figures of the sets that others publish, which need not be of the same run. */
const COMPARISON = join(HERE, "compared.json");
const PAGES = [
  { path: join(HERE, "../docs/quality.md"), sections: QUALITY, from: RESULTS },
  { path: join(HERE, "../docs/compared.md"), sections: COMPARED, from: COMPARISON },
];

const options = parse();
if (options === "page") writePage();
else await measure(options);

function parse(): Options | "page" {
  try {
    return readOptions(process.argv.slice(2), process.env);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

async function measure(options: Options): Promise<void> {
  const run = new Run(
    options,
    new Progress(),
    options.onto === undefined ? undefined : recordAt(options.onto),
  );
  mkdirSync(RUNS, { recursive: true });
  const path = join(RUNS, `${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}.json`);
  await run.run(() => writeFileSync(path, JSON.stringify(run.record)));
  console.log(`${allTables(summarize(run.record))}\nwritten to ${path}`);
  if (options.quick) return;
  const results = summarize(run.record);
  const systems = [...MODELS, ...MODELS.map(hybridOf), "bm25"];
  if (canCompare(results, systems)) write(COMPARISON, comparisonIn(results));
  if (run.isWhole(systems)) write(RESULTS, results);
  writePage();
}

function recordAt(path: string): RunRecord {
  // Older records lack what was not measured then.
  return { pooled: {}, languages: {}, ...JSON.parse(readFileSync(path, "utf8")) } as RunRecord;
}

function write(path: string, results: Partial<Results>): void {
  writeFileSync(path, `${JSON.stringify(results, fourDigits, 2)}\n`);
}

function writePage(): void {
  for (const { path, sections, from } of PAGES) {
    const results = JSON.parse(readFileSync(from, "utf8")) as Results;
    const before = readFileSync(path, "utf8");
    const after = withTables(before, sections, results);
    if (after === before) continue;
    writeFileSync(path, after);
    console.log(`written to ${path}`);
  }
}

/** Rounds figures, because more digits would be noise and change with every run. */
function fourDigits(_: string, value: unknown): unknown {
  return typeof value === "number" ? Math.round(value * 1e4) / 1e4 : value;
}
