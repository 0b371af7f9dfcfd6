import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const RESULTS_FILE = fileURLToPath(new URL("../scale.json", import.meta.url));

/** Figures of one whole run of `npm run bench -- scale`. */
export interface ScaleResults {
  readonly date: string;
  readonly machine: string;
  readonly memories: number;
  readonly namespaces: number;
  readonly figures: readonly ScaleFigure[];
}

export interface ScaleFigure {
  readonly phase: string;
  readonly what: string;
  readonly value: number;
}

/** Reads the results of the last whole run, if there has been one. */
export function storedScale(): ScaleResults | undefined {
  return existsSync(RESULTS_FILE)
    ? (JSON.parse(readFileSync(RESULTS_FILE, "utf8")) as ScaleResults)
    : undefined;
}

export function keepScale(results: ScaleResults): void {
  writeFileSync(RESULTS_FILE, `${JSON.stringify(results, null, 2)}\n`);
}
