import { percentile } from "../machine.js";
import type { Busy } from "./busy.js";
import { type Calls, calls, type Figure, ratio } from "./figures.js";
import type { Targets } from "./results.js";
import type { Load } from "./system.js";

/** Series of calls by number of callers, then by system, then by round. */
export type Loads = Readonly<Record<number, Readonly<Record<string, readonly Load[]>>>>;

export function summary(loads: Loads): Record<string, Record<string, Calls>> {
  return mapped(loads, (bySystem) => mapped(bySystem, calls));
}

export function targetsOf(measured: {
  recalls: Loads;
  stores: Loads;
  busy: readonly Busy[];
}): Omit<Targets, "memories"> {
  const { recalls, stores, busy } = measured;
  const loopDelays = busy.map(({ loopDelay }) => loopDelay);
  return {
    recallOverEmbedder: ratio(p50s(recalls[1]?.recalld), p50s(recalls[1]?.embedder)),
    storesOverEmbedder: ratio(rates(stores[16]?.recalld), rates(stores[16]?.embedder)),
    busyOverIdle: ratio(
      busy.map(({ busyP99Ms }) => busyP99Ms),
      busy.map(({ idleP99Ms }) => idleP99Ms),
    ),
    loopDelay: {
      p99Ms: Math.max(...loopDelays.map(({ p99Ms }) => p99Ms)),
      maxMs: Math.max(...loopDelays.map(({ maxMs }) => maxMs)),
    },
    recallsOver: overOthers(recalls),
    storesOver: overOthers(stores),
  };
}

/** Divides recalld's calls a second by those of every other system. */
function overOthers(loads: Loads): Record<string, Record<string, Figure>> {
  return mapped(loads, ({ recalld, embedder: _, "embedder-python": __, ...others }) =>
    mapped(others, (other) => ratio(rates(recalld), rates(other))),
  );
}

function p50s(loads: readonly Load[] = []): number[] {
  return loads.map(({ latenciesMs }) => percentile(latenciesMs, 0.5));
}

function rates(loads: readonly Load[] = []): number[] {
  return loads.map(({ latenciesMs, seconds }) => latenciesMs.length / seconds);
}

function mapped<T, U>(record: Readonly<Record<string, T>>, of: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, of(value)]));
}
