import { LOAD_MAX } from "../machine.js";
import type { ScaleResults } from "../scale/results.js";
import type { Calls } from "./figures.js";
import { FLOORS } from "./floors.js";
import { count, number } from "./numbers.js";
import { PROFILED, type ProfiledId } from "./profiled.js";
import type { AtSize, Results } from "./results.js";
import { table } from "./table.js";
import { targetsPage } from "./targets-page.js";

const BEGIN = "<!-- Figures: `npm run bench -- compare` writes what follows. -->";
const END = "<!-- End of the figures. -->";

/** Processor time below which a thread is not shown. */
const SHOWN_MS = 0.01;

/**
 * Replaces the page's figures by those of a run.
 *
 * @throws Error when a marker is missing.
 */
export function withFigures(page: string, results: Results, scale?: ScaleResults): string {
  const [before, rest] = page.split(BEGIN);
  const [, after] = rest?.split(END) ?? [];
  if (before === undefined || after === undefined) throw new Error(`the page lacks ${BEGIN} or ${END}`);
  return `${before}${BEGIN}\n\n${figures(results, scale)}\n${END}${after}`;
}

type Value = (calls: Calls) => number;
const p50: Value = ({ p50Ms }) => p50Ms.median;
const p99: Value = ({ p99Ms }) => p99Ms.median;
const rate: Value = ({ perSecond }) => perSecond.median;

function figures(results: Results, scale: ScaleResults | undefined): string {
  return [
    intro(results),
    "## Targets\n",
    targetsPage(results, scale),
    "## Where the time goes\n",
    "Milliseconds of processor time in recalld for one call, in user and system mode, by the code that a thread runs; by number of memories. `client` is the calling process.\n",
    processorTable(results),
    "## Recall\n",
    "One caller: p50 and p99 in milliseconds, and the p50 as a multiple of recalld's.\n",
    calls(results, ({ recall }) => of(recall, 1), latency),
    "16 callers: recalls a second, p99 in milliseconds, and the rate as a multiple of recalld's.\n",
    calls(results, ({ recall }) => of(recall, 16), throughput),
    "Of the ten memories that are truly nearest, this share was among the ten found (recall@10):\n",
    bySystem(results, ({ found }, id) => percent(found[id])),
    "## Store\n",
    "16 callers: stores a second, p99 in milliseconds, and the rate as a multiple of recalld's.\n",
    calls(results, ({ store }) => of(store, 16), throughput),
    "One caller: p50 and p99 in milliseconds, and the p50 as a multiple of recalld's.\n",
    calls(results, ({ store }) => of(store, 1), latency),
    "## Memory and restart\n",
    "Megabytes of the server's processes, and of the client's where the client embeds; in brackets, pages of files that the system may drop.\n",
    bySystem(results, memory),
    "Seconds from the start of a service that was stopped to its first answered recall.\n",
    bySystem(results, ({ restartSeconds }, id) => number(restartSeconds[id]?.median)),
  ].join("\n");
}

function intro({ date, machine, load, model, rounds, agreement, systems }: Results): string {
  const head = ["System", "Version", "Called", "Index", "An answered store survives"];
  const rows = Object.values(systems).map(({ name, version, called, index, durable }) => [
    name,
    version,
    called,
    index,
    durable,
  ]);
  const threads = `${model.workers} ${model.workers === 1 ? "thread" : "threads"}`;
  const agreed =
    agreement === null ? "" : ` The vectors of both embedders agree: lowest cosine ${agreement.toFixed(6)}.`;
  const busy =
    load > LOAD_MAX
      ? ` **The machine was busy when the run began (load ${load.toFixed(1)}), so these figures are off.**`
      : "";
  return `${date}, ${machine}. Model \`${model.id}\`, embedding in ${threads} in recalld. ${rounds === 1 ? "One round" : `Medians of ${rounds} rounds`}.${agreed}${busy}\n\n${table(head, rows)}`;
}

/** Writes a row for each size, with a column for each system and the floor. */
function calls(
  { sizes, systems }: Results,
  of: (size: AtSize) => Readonly<Record<string, Calls>>,
  cell: (calls: Calls, recalld: Calls) => string,
): string {
  const ids = Object.keys(of(sizes[0] as AtSize));
  const rows = sizes.map((size) => {
    const measured = of(size);
    const cells = ids.map((id) => cell(measured[id] as Calls, measured.recalld as Calls));
    return [count(size.memories), ...cells];
  });
  return table(["Memories", ...ids.map((id) => nameOf(id, systems))], rows);
}

function latency(calls: Calls, recalld: Calls): string {
  return `${number(p50(calls))}, ${number(p99(calls))}${multiple(p50(calls), p50(recalld))}`;
}

function throughput(calls: Calls, recalld: Calls): string {
  return `${number(rate(calls))}/s, ${number(p99(calls))}${multiple(rate(calls), rate(recalld))}`;
}

function multiple(value: number, recalld: number): string {
  return value === recalld ? "" : ` (${number(value / recalld)}×)`;
}

function processorTable({ sizes }: Results): string {
  const rows = Object.entries(PROFILED).flatMap(([id, { what }]) =>
    sizes.flatMap(({ memories, processor }) => {
      const time = processor[id as ProfiledId];
      return time === undefined ? [] : [{ memories, what, time }];
    }),
  );
  const names = [...new Set(rows.flatMap(({ time }) => Object.keys(time.threadsMs)))];
  const shown = names.filter((name) => rows.some(({ time }) => (time.threadsMs[name] ?? 0) >= SHOWN_MS));
  const cells = rows.map(({ memories, what, time }) => [
    what,
    count(memories),
    milliseconds(time.clientMs),
    ...shown.map((name) => milliseconds(time.threadsMs[name])),
  ]);
  return table(["Call", "Memories", "client", ...shown], cells);
}

function milliseconds(ms = 0): string {
  return ms < SHOWN_MS ? "–" : ms.toFixed(2);
}

function bySystem({ sizes, systems }: Results, cell: (size: AtSize, id: string) => string): string {
  const ids = Object.keys(systems);
  const rows = sizes.map((size) => [count(size.memories), ...ids.map((id) => cell(size, id))]);
  return table(["Memories", ...ids.map((id) => nameOf(id, systems))], rows);
}

function memory({ resident }: AtSize, id: string): string {
  const measured = resident[id];
  if (measured == null) return "not told by this system";
  const { serving, calling } = measured;
  const client = calling.own > 0 ? `, client ${megabytes(calling.own)}` : "";
  return `${megabytes(serving.own)} (${megabytes(serving.files)})${client}`;
}

function of(calls: Readonly<Record<string, Readonly<Record<string, Calls>>>>, callers: number) {
  return calls[callers] as Readonly<Record<string, Calls>>;
}

function nameOf(id: string, systems: Results["systems"]): string {
  return systems[id]?.name ?? (FLOORS[id] as string);
}

function megabytes(bytes: number): string {
  return count(Math.round(bytes / 1e6));
}

function percent(share: number | undefined): string {
  return `${((share ?? Number.NaN) * 100).toFixed(1)} %`;
}
