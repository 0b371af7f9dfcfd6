import { percentile } from "../machine.js";
import type { Busy } from "./busy.js";
import { type Calls, calls, type Figure, figure, ratio } from "./figures.js";
import { BARE } from "./floors.js";
import type { Load } from "./system.js";

/** Series of calls by number of callers, then by system, then by round. */
export type Loads = Readonly<Record<number, Readonly<Record<string, readonly Load[]>>>>;

export interface Target {
  readonly what: string;
  readonly atMost?: number;
  readonly atLeast?: number;
  readonly unit?: string;
}

/** Targets of recalld at every size. Ratios are taken round by round. */
export const TARGETS = {
  recallP50OverPgvector: { what: "Recall's p50 over pgvector's, 1 caller", atMost: 1.1 },
  recallsOverPgvector: { what: "Recalls a second over pgvector's, 16 callers", atLeast: 1.1 },
  recallsOverChroma: { what: "Recalls a second over Chroma's, 16 callers", atLeast: 2.5 },
  storesOverPgvector: { what: "Stores a second over pgvector's, 16 callers", atLeast: 1.3 },
  storeP50OverPgvector: { what: "Store's p50 over pgvector's, 1 caller", atMost: 0.8 },
  recallP50OverBare: { what: "Recall's p50 over the better bare server's, 1 caller", atMost: 1.15 },
  recallsOverBare: { what: "Recalls a second over the better bare server's, 16 callers", atLeast: 0.85 },
  loopDelayP99Ms: { what: "Event-loop delay while 16 callers store, p99", atMost: 10, unit: " ms" },
  busyP99OverIdle: { what: "Recall's p99 meanwhile, over its own when nobody stores", atMost: 3 },
  recallAt10: { what: "Recall@10 against an exact search", atLeast: 0.99 },
} as const satisfies Record<string, Target>;
export type TargetId = keyof typeof TARGETS;

export function summary(loads: Loads): Record<string, Record<string, Calls>> {
  return mapped(loads, (bySystem) => mapped(bySystem, calls));
}

/** Computes what the targets are about, as far as the other systems were measured. */
export function targetsOf(measured: {
  recalls: Loads;
  stores: Loads;
  busy: readonly Busy[];
  found: number;
}): Partial<Record<TargetId, Figure>> {
  const { recalls, stores, busy, found } = measured;
  const [alone, many] = [recalls[1], recalls[16]];
  const ofTargets: Record<TargetId, Figure | undefined> = {
    recallP50OverPgvector: over(p50s(alone?.recalld), p50s(alone?.pgvector)),
    recallsOverPgvector: over(rates(many?.recalld), rates(many?.pgvector)),
    recallsOverChroma: over(rates(many?.recalld), rates(many?.chroma)),
    storesOverPgvector: over(rates(stores[16]?.recalld), rates(stores[16]?.pgvector)),
    storeP50OverPgvector: over(p50s(stores[1]?.recalld), p50s(stores[1]?.pgvector)),
    recallP50OverBare: over(p50s(alone?.recalld), byMedian(BARE.map((id) => p50s(alone?.[id])))[0]),
    recallsOverBare: over(rates(many?.recalld), byMedian(BARE.map((id) => rates(many?.[id]))).at(-1)),
    loopDelayP99Ms: figure(busy.map(({ loopDelay }) => loopDelay.p99Ms)),
    busyP99OverIdle: over(
      busy.map(({ busyP99Ms }) => busyP99Ms),
      busy.map(({ idleP99Ms }) => idleP99Ms),
    ),
    recallAt10: figure([found]),
  };
  return Object.fromEntries(Object.entries(ofTargets).filter(([, one]) => one !== undefined));
}

function over(ours: readonly number[], theirs: readonly number[] = []): Figure | undefined {
  return ours.length > 0 && theirs.length > 0 ? ratio(ours, theirs) : undefined;
}

/** Sorts series by their medians, lowest first. */
function byMedian(series: readonly (readonly number[])[]): (readonly number[])[] {
  const measured = series.filter(({ length }) => length > 0);
  return measured.sort((a, b) => percentile(a, 0.5) - percentile(b, 0.5));
}

function p50s(loads: readonly Load[] = []): number[] {
  return loads.map(({ latenciesMs }) => percentile(latenciesMs, 0.5));
}

function rates(loads: readonly Load[] = []): number[] {
  return loads.map(({ latenciesMs, seconds }) => latenciesMs.length / seconds);
}

function mapped<T, U>(record: Readonly<Record<string, T>>, convert: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, convert(value)]));
}
