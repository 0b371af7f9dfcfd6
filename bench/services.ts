import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Sections, withTables } from "../eval/page.js";
import { memory, question } from "./compare/memories.js";
import { table } from "./compare/table.js";
import { LOAD_MAX, machine, percentile, timed } from "./machine.js";
import { SERVICES } from "./services/all.js";
import { openEmbeddings } from "./services/embeddings.js";
import { CannotRunError } from "./services/programs.js";
import type { Place, Service } from "./services/service.js";

// Compares the latency of memory services that run on this machine without a key: docs/compared.md says how.
//
//   npm run bench -- services [--services recalld,chroma] [--memories 1000] [--pythons PATH,PATH] [--page]

const HERE = fileURLToPath(new URL(".", import.meta.url));
const CACHE = join(HERE, ".cache");
const FIGURES = join(HERE, "services.json");
const PAGE = join(HERE, "../docs/compared.md");
const PYTHONS = ["python3", "python3.13", "python3.12", "python3.11", "/usr/bin/python3"];
const STORES = 300;
const RECALLS = 300;
const WARM_UP_RECALLS = 50;
/** Stores that are looked for at once. */
const LOOKED_FOR = 100;
const VISIBLE_TIMEOUT_MS = 10_000;

interface Figures {
  readonly date: string;
  readonly machine: string;
  readonly load: number;
  readonly memories: number;
  readonly services: readonly ServiceFigures[];
}

interface ServiceFigures extends Pick<Service, "name" | "version" | "called" | "finds"> {
  readonly store: Quantiles;
  readonly recall: Quantiles;
  /** Share of the stores that the very next recall finds. */
  readonly visibleAtOnce: number;
  /** Time from a store's answer until a recall begins that finds it. */
  readonly visible: Quantiles;
}

interface Quantiles {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const { values } = parseArgs({
  options: {
    services: { type: "string", default: Object.keys(SERVICES).join(",") },
    memories: { type: "string", default: "1000" },
    pythons: { type: "string", default: "" },
    page: { type: "boolean", default: false },
  },
});
if (!values.page) writeFileSync(FIGURES, `${JSON.stringify(await run(), null, 2)}\n`);
const figures = JSON.parse(readFileSync(FIGURES, "utf8")) as Figures;
const SECTIONS: Sections<Figures> = { services: servicesTable };
console.log(servicesTable(figures));
writeFileSync(PAGE, withTables(readFileSync(PAGE, "utf8"), SECTIONS, figures, "npm run bench -- services"));

async function run(): Promise<Figures> {
  const [load = 0] = loadavg();
  if (load > LOAD_MAX)
    console.error(`the machine is busy (load ${load.toFixed(1)}): its figures will be off`);
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(process.env.BENCH_DIR ?? CACHE, "services-"));
  const embeddings = await openEmbeddings(CACHE);
  const pythons = [...values.pythons.split(",").filter(Boolean), ...PYTHONS];
  const place = { folder, cache: join(CACHE, "services"), pythons, embeddings };
  const services: ServiceFigures[] = [];
  try {
    for (const id of values.services.split(",")) services.push(...(await measured(id, place)));
  } finally {
    await embeddings.close();
    rmSync(folder, { recursive: true, force: true });
  }
  const date = new Date().toISOString().slice(0, 10);
  return { date, machine: machine(), load, memories: Number(values.memories), services };
}

/** Measures a service, or says why it cannot run here. */
async function measured(id: string, place: Place): Promise<ServiceFigures[]> {
  const open = SERVICES[id];
  if (open === undefined) throw new Error(`no service ${id}: one of ${Object.keys(SERVICES).join(", ")}`);
  try {
    const service = await open(place);
    console.error(`${id}: ${service.version}`);
    try {
      return [await measure(service, Number(values.memories))];
    } finally {
      await service.stop();
    }
  } catch (error) {
    if (!(error instanceof CannotRunError)) throw error;
    console.error(`${id} is left out: ${error.message}`);
    return [];
  }
}

async function measure(service: Service, memories: number): Promise<ServiceFigures> {
  const { name, version, called, finds } = service;
  let next = 0;
  while (next < memories) await service.store(memory(next++));
  const stores: number[] = [];
  for (let i = 0; i < STORES; i++) stores.push((await timed(() => service.store(memory(next++)))).ms);
  for (let i = 0; i < WARM_UP_RECALLS; i++) await service.recall(question(i));
  const recalls: number[] = [];
  for (let i = 0; i < RECALLS; i++) {
    recalls.push((await timed(() => service.recall(question(WARM_UP_RECALLS + i)))).ms);
  }
  const visible: number[] = [];
  for (let i = 0; i < LOOKED_FOR; i++) visible.push(await timeUntilVisible(service, memory(next++)));
  const visibleAtOnce = visible.filter((ms) => ms === 0).length / visible.length;
  return {
    ...{ name, version, called, finds, visibleAtOnce },
    ...{ store: quantiles(stores), recall: quantiles(recalls), visible: quantiles(visible) },
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
  const of = (share: number) => Math.round(percentile(values, share) * 100) / 100;
  return { p50Ms: of(0.5), p99Ms: of(0.99) };
}

function servicesTable({ date, machine, load, memories, services }: Figures): string {
  const rows = services.map(({ name, version, called, finds, store, recall, visible, visibleAtOnce }) => [
    ...[`${name} ${version}`, called, finds, ...ms(store), ...ms(recall)],
    visibleAtOnce === 1
      ? "the next recall"
      : `${Math.round(visibleAtOnce * 100)} % the next recall, p99 ${ms(visible)[1]}`,
  ]);
  const columns = [
    "Service",
    "Called",
    "Finds",
    "Store p50",
    "p99",
    "Recall p50",
    "p99",
    "A write is found by",
  ];
  return `${memories.toLocaleString("en-US")} memories, one caller, in ms. ${date}, ${machine}, load ${load.toFixed(1)} at the start.\n\n${table(columns, rows)}`;
}

function ms({ p50Ms, p99Ms }: Quantiles): string[] {
  return [p50Ms, p99Ms].map((value) => (value === null || value === Infinity ? "never" : value.toFixed(1)));
}
