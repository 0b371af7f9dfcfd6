import { readFileSync, writeFileSync } from "node:fs";
import { driftsOf } from "./drift.js";
import type { Sample } from "./subject.js";

/** Description and samples of a soak. `bench/soak.json` keeps those of the page. */
export interface SoakResults {
  readonly date: string;
  readonly machine: string;
  readonly minutes: number;
  readonly calls: number;
  readonly samples: readonly Sample[];
}

const RESULTS_FILE = new URL("../soak.json", import.meta.url);
const PAGE = new URL("../../docs/performance.md", import.meta.url);
const [BEGIN, END] = ["<!-- Soak: `npm run bench -- soak` writes what follows. -->", "<!-- Soak ends. -->"];

/** Keeps the results, and writes the page from them. */
export function writePage(measured: SoakResults): void {
  const results = { ...measured, samples: measured.samples.map(rounded) };
  const { samples, ...head } = results;
  const lines = samples.map((sample) => JSON.stringify(sample)).join(",\n");
  writeFileSync(RESULTS_FILE, `${JSON.stringify(head).slice(0, -1)},"samples":[\n${lines}\n]}\n`);
  writeFileSync(PAGE, withSoak(readFileSync(PAGE, "utf8"), results));
}

/**
 * Replaces the soak's figures on the page.
 *
 * @throws Error when the page lacks their place.
 */
export function withSoak(page: string, results: SoakResults): string {
  const [before, rest] = page.split(`${BEGIN}\n`);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`the page lacks ${BEGIN} or ${END}`);
  return `${before}${BEGIN}\n\n${figures(results)}\n\n${END}${after}`;
}

/** Rounds to what matters. */
function rounded(sample: Sample): Sample {
  const to = (value: number, unit: number) => Math.round(value / unit) * unit;
  return {
    ...sample,
    seconds: Math.round(sample.seconds),
    ownBytes: to(sample.ownBytes, 10_000),
    heapUsedBytes: to(sample.heapUsedBytes, 10_000),
    delayP99Ms: Number(sample.delayP99Ms.toFixed(2)),
    delayMaxMs: Number(sample.delayMaxMs.toFixed(2)),
  };
}

function figures({ date, machine, minutes, calls, samples }: SoakResults): string {
  const number = (value: number) => value.toLocaleString("en-US", { maximumFractionDigits: 1 });
  const lines = driftsOf(samples).map(({ name, unit, median, max, rise, riseMax }) => {
    const cells = [median, max, rise, riseMax].map((value) => `${number(value)}${unit && ` ${unit}`}`);
    return [name, ...cells];
  });
  const head = ["", "Median", "Most", "Rise over the judged time", "Bound of the rise"];
  return [
    `${date}, ${machine}: ${number(minutes)} minutes, ${number(calls)} calls, none failed.`,
    "",
    ...table([head, ...lines]),
  ].join("\n");
}

/** Formats a Markdown table as this repository's formatter does. */
function table(lines: readonly (readonly string[])[]): string[] {
  const widths = (lines[0] ?? []).map((_, at) =>
    Math.max(3, ...lines.map((line) => (line[at] ?? "").length)),
  );
  const row = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] as number)).join(" | ")} |`;
  const [head = [], ...rest] = lines;
  return [row(head), row(widths.map((width) => "-".repeat(width))), ...rest.map(row)];
}
