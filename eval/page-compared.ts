import { table } from "../bench/compare/table.js";
import { count, interval, share } from "./format.js";
import { BENCHMARKS } from "./known-sets.js";
import type { Metric } from "./metrics.js";
import type { Results, RetrievalFigures } from "./results.js";

const METRICS: Partial<Record<Metric, string>> = {
  sessionAny1: "any, R@1",
  sessionAny: "any, R@5",
  sessionAny10: "any, R@10",
  sessionAll: "all, R@5",
  sessionAll10: "all, R@10",
};

/** Metric that most products publish: its interval is shown. */
const PUBLISHED: Metric = "sessionAny";

/** True if a run has all that the comparison with others is made of, for all systems. */
export function canCompare({ retrieval, pooled, languages }: Results, systems: readonly string[]): boolean {
  const searched = Object.keys(BENCHMARKS).flatMap((set) => [retrieval[set]?.systems, pooled[set]?.systems]);
  return [languages, ...searched].every((figures = {}) => systems.every((id) => id in figures));
}

/** Takes out of a run's results what the comparison is made of. */
export function comparisonIn({ version, side, queriesMax, systems, ...results }: Results): Partial<Results> {
  const sets = Object.keys(BENCHMARKS);
  const retrieval = Object.entries(results.retrieval).filter(([set]) => sets.includes(set));
  const { pooled, languages, floors } = results;
  const figures = { pooled, languages, floors };
  return { version, side, queriesMax, systems, retrieval: Object.fromEntries(retrieval), ...figures };
}

/** Shows how often the sessions that answer are found. */
export function comparedPage(results: Results): string {
  const { retrieval, pooled } = results;
  const rows = Object.entries(BENCHMARKS).flatMap(([set, name]) => [
    ...rowsOf(results, `${name}, its own`, retrieval[set]),
    ...rowsOf(results, `${name}, all`, pooled[set]),
  ]);
  const sizes = Object.entries(BENCHMARKS).map(
    ([set, name]) =>
      `${name}: ${count(retrieval[set]?.queries ?? 0)} questions, ${count(retrieval[set]?.rows ?? 0)} memories.`,
  );
  return `${sizes.join(" ")}\n\n${table(["Searched", "System", ...Object.values(METRICS)], rows)}`;
}

function rowsOf({ systems }: Results, searched: string, figures: RetrievalFigures | undefined): string[][] {
  return Object.entries(figures?.systems ?? {}).map(([id, { metrics }]) => [
    searched,
    systems[id]?.name ?? id,
    ...(Object.keys(METRICS) as Metric[]).map((metric) =>
      metric === PUBLISHED ? interval(metrics[metric]) : share(metrics[metric]?.value),
    ),
  ]);
}
