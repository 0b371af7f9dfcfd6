import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { memory, question } from "./compare/memories.js";
import { LOAD_MAX, machine, percentile, timed } from "./machine.js";
import { SERVICES } from "./services/all.js";
import { openEmbeddings } from "./services/embeddings.js";
import { type Figures, type Measured, type Quantiles, servicesTable, withServices } from "./services/page.js";
import { CannotRunError } from "./services/programs.js";
import type { Service, Workspace } from "./services/service.js";

// Compares the latency of memory services that run on this machine without a key: docs/compared.md says how.
//
//   npm run bench -- services [--services recalld,chroma] [--memories 1000] [--calls 300] [--pythons PATH,PATH] [--page]

const HERE = fileURLToPath(new URL(".", import.meta.url));
const CACHE = join(HERE, ".cache");
const FIGURES = join(HERE, "services.json");
const PAGE = join(HERE, "../docs/compared.md");
const PYTHONS = ["python3", "python3.13", "python3.12", "python3.11", "/usr/bin/python3"];
const WARM_UP_RECALLS = 50;
/** One in so many calls is a store that must be visible at once. */
const CALLS_PER_CHECK = 3;
const VISIBLE_TIMEOUT_MS = 2_000;

const { values } = parseArgs({
  options: {
    services: { type: "string", default: Object.keys(SERVICES).join(",") },
    memories: { type: "string", default: "1000" },
    calls: { type: "string", default: "300" },
    pythons: { type: "string", default: "" },
    page: { type: "boolean", default: false },
  },
});
if (!values.page) await run();
const figures = storedFigures();
console.log(servicesTable(figures));
writeFileSync(PAGE, withServices(readFileSync(PAGE, "utf8"), figures));

/** Measures one service after the other, and keeps the figures of the others. */
async function run(): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(process.env.BENCH_DIR ?? CACHE, "services-"));
  const embeddings = await openEmbeddings(CACHE);
  const pythons = [...values.pythons.split(",").filter(Boolean), ...PYTHONS];
  const workspace = { folder, cache: join(CACHE, "services"), pythons, embeddings };
  try {
    for (const id of values.services.split(",")) {
      const [load = 0] = loadavg();
      if (load > LOAD_MAX)
        console.error(`the machine is busy (load ${load.toFixed(1)}): its figures will be off`);
      const found = await measured(id, workspace);
      if (found === undefined) continue;
      const date = new Date().toISOString().slice(0, 10);
      const all = { ...storedFigures(), [id]: { ...found, date, machine: machine(), load } };
      const inOrder = Object.keys(SERVICES).flatMap((each) => (each in all ? [[each, all[each]]] : []));
      writeFileSync(FIGURES, `${JSON.stringify(Object.fromEntries(inOrder), null, 2)}\n`);
    }
  } finally {
    await embeddings.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function storedFigures(): Figures {
  return existsSync(FIGURES) ? (JSON.parse(readFileSync(FIGURES, "utf8")) as Figures) : {};
}

/** Measures a service, or says why it cannot run here. */
async function measured(id: string, workspace: Workspace): Promise<Measured | undefined> {
  const open = SERVICES[id];
  if (open === undefined) throw new Error(`no service ${id}: one of ${Object.keys(SERVICES).join(", ")}`);
  try {
    const service = await open(workspace);
    console.error(`${id}: ${service.version}`);
    try {
      return await measure(service, Number(values.memories));
    } finally {
      await service.stop();
    }
  } catch (error) {
    if (!(error instanceof CannotRunError)) throw error;
    console.error(`${id} is left out: ${error.message}`);
    return undefined;
  }
}

async function measure(service: Service, memories: number): Promise<Measured> {
  const { name, version, called, finds } = service;
  const calls = Number(values.calls);
  let next = 0;
  while (next < memories) await service.store(memory(next++));
  const stores: number[] = [];
  for (let i = 0; i < calls; i++) stores.push((await timed(() => service.store(memory(next++)))).ms);
  for (let i = 0; i < WARM_UP_RECALLS; i++) await service.recall(question(i));
  const recalls: number[] = [];
  for (let i = 0; i < calls; i++) {
    recalls.push((await timed(() => service.recall(question(WARM_UP_RECALLS + i)))).ms);
  }
  const visible: number[] = [];
  for (let i = 0; i < calls / CALLS_PER_CHECK; i++)
    visible.push(await timeUntilVisible(service, memory(next++)));
  const visibleAtOnce = visible.filter((ms) => ms === 0).length / visible.length;
  return {
    name,
    version,
    called,
    finds,
    memories,
    visibleAtOnce,
    store: quantiles(stores),
    recall: quantiles(recalls),
    visible: quantiles(visible),
  };
}

/** Stores a text and asks for it until it is found: 0 if the first recall finds it. */
async function timeUntilVisible(service: Service, text: string): Promise<number> {
  const id = await service.store(text);
  const storedMs = performance.now();
  for (let isFirst = true; ; isFirst = false) {
    const askedMs = performance.now();
    if ((await service.recall(text)).includes(id)) return isFirst ? 0 : askedMs - storedMs;
    if (askedMs - storedMs > VISIBLE_TIMEOUT_MS) return Number.POSITIVE_INFINITY;
  }
}

function quantiles(values: readonly number[]): Quantiles {
  const percentileMs = (share: number) => Math.round(percentile(values, share) * 100) / 100;
  return { p50Ms: percentileMs(0.5), p99Ms: percentileMs(0.99) };
}
