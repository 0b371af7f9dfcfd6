import { percentile } from "../machine.js";
import type { Load } from "./system.js";

/** Summary of one figure over the rounds of a run. */
export interface Figure {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
}

/** Summary of a series of calls over the rounds. */
export interface Calls {
  readonly p50Ms: Figure;
  readonly p99Ms: Figure;
  readonly perSecond: Figure;
}

export function figure(values: readonly number[]): Figure {
  return {
    median: rounded(percentile(values, 0.5)),
    lowest: rounded(Math.min(...values)),
    highest: rounded(Math.max(...values)),
  };
}

export function calls(loads: readonly Load[]): Calls {
  return {
    p50Ms: figure(loads.map(({ latenciesMs }) => percentile(latenciesMs, 0.5))),
    p99Ms: figure(loads.map(({ latenciesMs }) => percentile(latenciesMs, 0.99))),
    perSecond: figure(loads.map(({ latenciesMs, seconds }) => latenciesMs.length / seconds)),
  };
}

/** Divides figures that were measured in turns, round by round, so that load on the machine affects both. */
export function ratio(over: readonly number[], under: readonly number[]): Figure {
  return figure(over.map((value, round) => value / (under[round] as number)));
}

/** Rounds to four digits, because more would be noise to a reader of the file. */
function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
