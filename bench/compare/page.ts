import { LOAD_MAX } from "../machine.js";
import type { ScaleResults } from "../scale/results.js";
import type { Calls } from "./figures.js";
import { FLOORS } from "./floors.js";
import { count, number } from "./numbers.js";
import { PROFILED, type ProfiledId } from "./profiled.js";
import type { AtSize, ByCallers, Results } from "./results.js";
import { table } from "./table.js";
import { targetsPage } from "./targets-page.js";

const BEGIN = "<!-- Figures: `npm run bench -- compare` writes what follows. -->";
const END = "<!-- End of the figures. -->";

/** Processor time below which a thread is not shown. */
const LISTED_MS_MIN = 0.01;
const NONE = "–";

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
  const sizes = ends(results.sizes);
  const largest = sizes.at(-1) as AtSize;
  const latencyAt = (call: "recall" | "store") =>
    sizes.map(
      (size): Column => [
        `1 caller, ${count(size.memories)}`,
        (id) => cell(size[call], { callers: 1, id }, latency),
      ],
    );
  const throughputAt = (call: "recall" | "store") =>
    sizes.map(
      (size): Column => [
        `16 callers, ${count(size.memories)}`,
        (id) => cell(size[call], { callers: 16, id }, throughput),
      ],
    );
  return [
    intro(results),
    "## Targets\n",
    targetsPage(results, scale),
    "## Where the time goes\n",
    `Milliseconds of processor time in recalld for one call among ${count(largest.memories)} memories, in user and system mode, by the code that a thread runs. \`client\` is the calling process.\n`,
    processorTable(largest),
    "## Recall\n",
    "By callers and memories: p50 of one caller in ms, or calls a second of 16; then p99 in ms; in brackets the first figure as a multiple of recalld's. Recall@10 is that of the larger size.\n",
    bySystem(results, [
      ...latencyAt("recall"),
      ...throughputAt("recall"),
      ["Recall@10", (id) => percent(largest.found[id])],
    ]),
    "## Store\n",
    "The same for stores:\n",
    bySystem(results, [...latencyAt("store"), ...throughputAt("store")]),
    "## Memory and restart\n",
    "Megabytes of the server's processes, and of the client's where the client embeds; in brackets, pages of files that the system may drop. A restart is the time from the start of a stopped service to its first answered recall.\n",
    bySystem(results, [
      ...sizes.map((size): Column => [`MB, ${count(size.memories)}`, (id) => memory(size, id)]),
      ...sizes.map(
        ({ memories, restartSeconds }): Column => [
          `Restart, ${count(memories)}`,
          (id) => (id in restartSeconds ? `${number(restartSeconds[id]?.median)} s` : NONE),
        ],
      ),
    ]),
  ].join("\n");
}

/** Smallest and largest size. */
function ends(sizes: readonly AtSize[]): AtSize[] {
  return sizes.filter((_, i) => i === 0 || i === sizes.length - 1);
}

function intro({ date, machine, load, model, rounds, agreement, systems }: Results): string {
  const head = ["System", "Called", "Index", "An answered store survives"];
  const rows = Object.values(systems).map(({ name, version, called, index, durable }) => [
    `${name} ${version}`,
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

/** Title of a column, and its cell for a system or floor. */
type Column = readonly [title: string, cell: (id: string) => string];

/** Writes a row for each system and floor that has a figure, with these columns. */
function bySystem({ systems }: Results, columns: readonly Column[]): string {
  const rows = [...Object.keys(systems), ...Object.keys(FLOORS)]
    .map((id) => [nameOf(id, systems), ...columns.map(([, cell]) => cell(id))])
    .filter(([, ...cells]) => cells.some((text) => text !== NONE));
  return table(["System", ...columns.map(([title]) => title)], rows);
}

function cell(
  byCallers: ByCallers,
  { callers, id }: { callers: number; id: string },
  write: (calls: Calls, recalld: Calls) => string,
): string {
  const { [id]: calls, recalld } = byCallers[callers] ?? {};
  return calls === undefined || recalld === undefined ? NONE : write(calls, recalld);
}

function latency(calls: Calls, recalld: Calls): string {
  return `${number(p50(calls))}, ${number(p99(calls))}${multiple(p50(calls), p50(recalld))}`;
}

function throughput(calls: Calls, recalld: Calls): string {
  return `${number(rate(calls))}, ${number(p99(calls))}${multiple(rate(calls), rate(recalld))}`;
}

function multiple(value: number, recalld: number): string {
  return value === recalld ? "" : ` (${number(value / recalld)}×)`;
}

function processorTable({ processor }: AtSize): string {
  const rows = Object.entries(PROFILED).flatMap(([id, { what }]) => {
    const time = processor[id as ProfiledId];
    return time === undefined ? [] : [{ what, time }];
  });
  const names = [...new Set(rows.flatMap(({ time }) => Object.keys(time.threadsMs)))];
  const listed = names.filter((name) =>
    rows.some(({ time }) => (time.threadsMs[name] ?? 0) >= LISTED_MS_MIN),
  );
  const cells = rows.map(({ what, time }) => [
    what,
    milliseconds(time.clientMs),
    ...listed.map((name) => milliseconds(time.threadsMs[name])),
  ]);
  return table(["Call", "client", ...listed], cells);
}

function milliseconds(ms = 0): string {
  return ms < LISTED_MS_MIN ? NONE : ms.toFixed(2);
}

function memory({ resident }: AtSize, id: string): string {
  const measured = resident[id];
  if (measured === undefined) return NONE;
  if (measured === null) return "not told by this system";
  const { serving, calling } = measured;
  const client = calling.own > 0 ? `, client ${megabytes(calling.own)}` : "";
  return `${megabytes(serving.own)} (${megabytes(serving.files)})${client}`;
}

function nameOf(id: string, systems: Results["systems"]): string {
  return systems[id]?.name ?? (FLOORS[id] as string);
}

function megabytes(bytes: number): string {
  return count(Math.round(bytes / 1e6));
}

function percent(share: number | undefined): string {
  return share === undefined ? NONE : `${(share * 100).toFixed(1)} %`;
}
