import { table } from "../bench/compare/table.js";
import { count, interval } from "./format.js";
import { BENCHMARKS } from "./known-sets.js";
import type { Metric } from "./metrics.js";
import type { Results, RetrievalFigures } from "./results.js";

const SESSIONS: Partial<Record<Metric, string>> = {
  sessionAny1: "any, R@1",
  sessionAny: "any, R@5",
  sessionAny10: "any, R@10",
  sessionAll: "all, R@5",
  sessionAll10: "all, R@10",
};

const TURNS: Partial<Record<Metric, string>> = { hit5: "hit@5", hit10: "hit@10" };

/** True if a run has all that the comparison with others is made of. */
export function canCompare({ retrieval, pooled, languages }: Results): boolean {
  const sets = Object.keys(BENCHMARKS);
  return sets.every((set) => set in retrieval && set in pooled) && Object.keys(languages).length > 0;
}

/** Takes out of a run's results what the comparison is made of. */
export function comparisonIn({ version, side, queriesMax, systems, ...results }: Results): Partial<Results> {
  const sets = Object.keys(BENCHMARKS);
  const retrieval = Object.entries(results.retrieval).filter(([set]) => sets.includes(set));
  const { pooled, languages, floors } = results;
  const shown = { pooled, languages, floors };
  return { version, side, queriesMax, systems, retrieval: Object.fromEntries(retrieval), ...shown };
}

/** Shows how often the sessions that answer are found, in both readings of recall. */
export function comparedSessionsPage(results: Results): string {
  return page(results, SESSIONS);
}

/** Shows how often a turn that answers is found. */
export function comparedTurnsPage(results: Results): string {
  return page(results, TURNS);
}

function page(results: Results, metrics: Partial<Record<Metric, string>>): string {
  const rows = Object.entries(BENCHMARKS).flatMap(([set, name]) => [
    ...rowsOf(results, { name, figures: results.retrieval[set], where: "its own history" }, metrics),
    ...rowsOf(results, { name, figures: results.pooled[set], where: "all histories" }, metrics),
  ]);
  return table(["Benchmark", "Searched", "Questions", "Memories", "System", ...Object.values(metrics)], rows);
}

function rowsOf(
  { systems }: Results,
  of: { name: string; figures: RetrievalFigures | undefined; where: string },
  metrics: Partial<Record<Metric, string>>,
): string[][] {
  const { name, figures, where } = of;
  return Object.entries(figures?.systems ?? {}).map(([id, system]) => [
    ...[name, where, count(figures?.queries ?? 0), count(figures?.rows ?? 0), systems[id]?.name ?? id],
    ...Object.keys(metrics).map((metric) => interval(system.metrics[metric as Metric])),
  ]);
}
