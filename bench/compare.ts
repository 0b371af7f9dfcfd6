import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { locateModel } from "../dist/src/embedding/models/locate.js";
import { BareServer } from "./compare/bare/bare-server.js";
import { openNodeEmbedder, openPythonEmbedder } from "./compare/embedders.js";
import { HttpSystem } from "./compare/http-system.js";
import { Measuring } from "./compare/measure.js";
import { type Options, readOptions, USAGE } from "./compare/options.js";
import { withFigures } from "./compare/page.js";
import { PRODUCTS } from "./compare/products.js";
import { pythonEnvironment } from "./compare/python-environment.js";
import { PythonSystem } from "./compare/python-system.js";
import { Recalld } from "./compare/recalld.js";
import type { Results } from "./compare/results.js";
import type { System } from "./compare/system.js";
import { openCorpus } from "./compare/texts.js";
import { LOAD_MAX } from "./machine.js";
import { storedScale } from "./scale/results.js";

// Compares recalld with what a user would take instead, in one run, on one machine and with the same weights.
// docs/performance.md says what is measured and how.

const HERE = fileURLToPath(new URL(".", import.meta.url));
/** Folder outside git for the Python environment, the vectors, and the databases of a run. */
const CACHE = join(HERE, ".cache");
const PAGE = join(HERE, "../docs/performance.md");
/** Memories beyond the largest size that are stored during the measurements. */
const MORE_TEXTS = 100_000;

const options = parse();
const path = join(options.complete ? HERE : CACHE, "results.json");
if (!options.pageOnly) {
  const [load = 0] = loadavg();
  if (load > LOAD_MAX)
    console.error(`the machine is busy (load ${load.toFixed(1)}): its figures will be off`);
  const results: Results = { ...(await run(options)), load };
  writeFileSync(path, `${JSON.stringify(results, null, 2)}\n`);
  console.log(`written to ${path}`);
}
if (options.complete) writePage(JSON.parse(readFileSync(path, "utf8")) as Results);

function parse(): Options {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

function writePage(results: Results): void {
  writeFileSync(PAGE, withFigures(readFileSync(PAGE, "utf8"), results, storedScale()));
  console.log(`written to ${PAGE}`);
}

async function run(options: Options): Promise<Omit<Results, "load">> {
  const { systems: ids, sizes } = options;
  const others = ids.filter((id) => id !== "recalld");
  const python = others.length > 0 ? pythonEnvironment(join(CACHE, "python")) : undefined;
  const embedded = Math.max(...sizes);
  const corpus = await openCorpus({ ...options, folder: CACHE, embedded, texts: embedded + MORE_TEXTS });
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(process.env.BENCH_DIR ?? CACHE, "run-"));
  const namesFolder = mkdtempSync(join(folder, "threads-"));
  const recalld = await Recalld.open({ folder, corpus, model: options, namesFolder });
  const systems: Record<string, System> = { recalld };
  const modelFolder = await locateModel(options);
  const bare = { modelFolder, workers: options.workers, corpus, folder };
  const floors = {
    "bare-thread": new BareServer({ ...bare, kind: "thread" }),
    "bare-main": new BareServer({ ...bare, kind: "main" }),
  };
  const embedder = await openNodeEmbedder({ ...options, corpus });
  const inPython = python && { python, modelFolder, folder, corpus };
  if (inPython) {
    for (const id of others) {
      const Kind = id === "pgvector-http" ? HttpSystem : PythonSystem;
      systems[id] = new Kind(PRODUCTS[id], inPython);
    }
  }
  const embedders = inPython ? { embedder, "embedder-python": openPythonEmbedder(inPython) } : { embedder };
  try {
    return await new Measuring({ options, corpus, recalld, systems, floors, embedders }).run();
  } finally {
    for (const one of Object.values({ ...systems, ...floors })) await one.stop();
    for (const one of Object.values(embedders)) await one.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
