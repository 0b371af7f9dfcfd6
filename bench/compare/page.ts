import type { Calls, Figure } from "./figures.js";
import { lineChart } from "./line-chart.js";
import type { AtSize, Results } from "./results.js";
import { table } from "./table.js";

const BEGIN = "<!-- Figures: `npm run bench` writes what follows. -->";
const END = "<!-- End of the figures. -->";

/** Names of the floor, which is measured like the systems and shown next to them. */
const EMBEDDERS: Readonly<Record<string, string>> = {
  embedder: "embedder alone",
  "embedder-python": "the same in Python",
};

/** Targets in `docs/performance.md` that recalld must meet. */
const RECALL_OVER_EMBEDDER_MAX = 1.5;
const STORES_OVER_EMBEDDER_MIN = 0.9;
const BUSY_OVER_IDLE_MAX = 3;
const LOOP_DELAY_MAX_MS = 20;
const OVER_CHROMA_MIN = 3;

/**
 * Replaces the page's figures by those of a run.
 *
 * @throws Error when a marker is missing.
 */
export function withFigures(page: string, results: Results): string {
  const [before, rest] = page.split(BEGIN);
  const [, after] = rest?.split(END) ?? [];
  if (before === undefined || after === undefined) throw new Error(`the page lacks ${BEGIN} or ${END}`);
  return `${before}${BEGIN}\n\n${figures(results)}\n${END}${after}`;
}

/** Draws the plots, by their names in `docs/pictures/`. */
export function plots({ sizes, systems }: Results): Record<string, string> {
  const plot = (title: string, of: (size: AtSize) => Readonly<Record<string, Calls>>, value: Value) =>
    lineChart({
      title,
      xs: sizes.map(({ memories }) => memories),
      xLabel: "memories",
      series: Object.keys(of(sizes[0] as AtSize)).map((id) => ({
        name: nameOf(id, systems),
        ...(id === "recalld" ? { role: "main" as const } : id in EMBEDDERS ? { role: "floor" as const } : {}),
        values: sizes.map((size) => value(of(size)[id] as Calls)),
      })),
    });
  return {
    "performance-recall.svg": plot("Recall, p50 in ms, 1 caller", ({ recall }) => of(recall, 1), p50),
    "performance-recalls.svg": plot("Recalls a second, 16 callers", ({ recall }) => of(recall, 16), rate),
    "performance-stores.svg": plot("Stores a second, 16 callers", ({ store }) => of(store, 16), rate),
  };
}

type Value = (calls: Calls) => number;
const p50: Value = ({ p50Ms }) => p50Ms.median;
const p99: Value = ({ p99Ms }) => p99Ms.median;
const rate: Value = ({ perSecond }) => perSecond.median;

function figures(results: Results): string {
  return [
    intro(results),
    "## Targets\n",
    targets(results),
    "## Recall\n",
    "![Recall, p50](pictures/performance-recall.svg)\n",
    "One caller: p50 and p99 in milliseconds, and the p50 as a multiple of recalld's.\n",
    calls(results, ({ recall }) => of(recall, 1), latency),
    "![Recalls a second](pictures/performance-recalls.svg)\n",
    "16 callers: recalls a second, p99 in milliseconds, and the rate as a multiple of recalld's.\n",
    calls(results, ({ recall }) => of(recall, 16), throughput),
    "Of the five memories that are truly nearest, this share was found:\n",
    bySystem(results, ({ found }, id) => percent(found[id])),
    "## Store\n",
    "![Stores a second](pictures/performance-stores.svg)\n",
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

function intro({ date, machine, model, rounds, agreement, systems }: Results): string {
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
  return `${date}, ${machine}. Model \`${model.id}\`, embedding in ${threads} in recalld. Medians of ${rounds} rounds.${agreed}\n\n${table(head, rows)}`;
}

function targets({ targets, sizes }: Results): string {
  const { recallOverEmbedder, storesOverEmbedder, busyOverIdle, loopDelay, recallsOver, storesOver } =
    targets;
  const rows = [
    atMost("Recall's p50 over the embedder's, 1 caller", recallOverEmbedder, RECALL_OVER_EMBEDDER_MAX),
    atLeast(
      "Stores a second over the embedder's texts, 16 callers",
      storesOverEmbedder,
      STORES_OVER_EMBEDDER_MIN,
    ),
    atMost("Recall's p99 while 16 callers store, over its own when idle", busyOverIdle, BUSY_OVER_IDLE_MAX),
    [
      "Delay of the server's event loop meanwhile, p99",
      `at most ${LOOP_DELAY_MAX_MS} ms`,
      `${number(loopDelay.p99Ms)} ms; the longest ${number(loopDelay.maxMs)} ms`,
      met(loopDelay.p99Ms <= LOOP_DELAY_MAX_MS),
    ],
    ...["1", "16"].flatMap((callers) =>
      overChroma(`Recalls a second over Chroma's, ${callersOf(callers)}`, recallsOver[callers]?.chroma),
    ),
    ...overChroma("Stores a second over Chroma's, 16 callers", storesOver["16"]?.chroma),
  ];
  const head = ["What", "Target", "Measured (lowest and highest round)", "Met"];
  return `At ${count(targets.memories)} memories.\n\n${table(head, rows)}${bound(sizes, targets.memories)}`;
}

/** Shows how far the ratio to Chroma could go at all, because every call includes the model's own time. */
function bound(sizes: Results["sizes"], memories: number): string {
  const at = sizes.find((size) => size.memories === memories);
  const times = [1, 16].map((callers) => {
    const { embedder, chroma } = (at && of(at.recall, callers)) ?? {};
    return embedder && chroma ? number(rate(embedder) / rate(chroma)) : undefined;
  });
  if (times.includes(undefined)) return "";
  return `\nA service that did nothing but embed, as recalld's pool of threads does, would answer ${times[0]} times Chroma's recalls a second with 1 caller, and ${times[1]} times with 16.\n`;
}

function overChroma(what: string, figure: Figure | undefined): string[][] {
  return figure === undefined ? [] : [atLeast(what, figure, OVER_CHROMA_MIN)];
}

function atMost(what: string, figure: Figure, limit: number): string[] {
  return [what, `at most ${limit}`, measured(figure), met(figure.median <= limit)];
}

function atLeast(what: string, figure: Figure, limit: number): string[] {
  return [what, `at least ${limit}`, measured(figure), met(figure.median >= limit)];
}

function measured({ median, lowest, highest }: Figure): string {
  return `${number(median)} (${number(lowest)} to ${number(highest)})`;
}

function met(yes: boolean): string {
  return yes ? "yes" : "no";
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
  return systems[id]?.name ?? (EMBEDDERS[id] as string);
}

function callersOf(callers: string): string {
  return callers === "1" ? "1 caller" : `${callers} callers`;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

function megabytes(bytes: number): string {
  return count(Math.round(bytes / 1e6));
}

function percent(share: number | undefined): string {
  return `${((share ?? Number.NaN) * 100).toFixed(1)} %`;
}

/** Writes three digits, which is more than the rounds agree on. */
function number(value = Number.NaN): string {
  return value >= 100 ? count(Math.round(value)) : value.toPrecision(value < 1 ? 2 : 3);
}
