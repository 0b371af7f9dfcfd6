import { percentile } from "../machine.js";
import type { Load } from "./system.js";

/** One figure over the rounds of a run. */
export interface Figure {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
}

/** A run of calls, over the rounds. */
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

/** Of two that were measured in turns: round by round, so that what the machine did falls on both. */
export function ratio(over: readonly number[], under: readonly number[]): Figure {
  return figure(over.map((value, round) => value / (under[round] as number)));
}

/** Four digits: more would be noise, and a reader of the file would have to look past them. */
function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
