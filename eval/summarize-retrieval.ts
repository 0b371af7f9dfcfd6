import { type Estimate, estimate, estimateMean, estimateMeanOfMeans, mean, replicates } from "./bootstrap.js";
import type { Metric } from "./metrics.js";
import { areaUnderCurve } from "./ranks.js";
import {
  type BySystem,
  type CategoryFigures,
  type MeanFigures,
  type RetrievalFigures,
  type RetrievalOfSystem,
  STRONG,
  type TopScores,
  type UnanswerableFigures,
} from "./results.js";
import type { Outcome, RetrievalRecord } from "./run-record.js";

/** Maximum number of categories. With more of them, they are names rather than categories. */
const CATEGORIES_MAX = 8;
const METRICS: readonly Metric[] = [
  "hit1",
  "hit5",
  "hit10",
  "ndcg10",
  "sessionRecall",
  "sessionAny1",
  "sessionAny",
  "sessionAny10",
  "sessionAll1",
  "sessionAll",
  "sessionAll10",
];

/**
 * Summarizes the queries.
 *
 * @param ids the systems, beginning with the one that others are compared with
 */
export function retrievalOf(record: RetrievalRecord, ids: readonly string[]): RetrievalFigures {
  const here = ids.filter((id) => id in record.systems);
  const answerable = bySystem(here, (id) => outcomesOf(record, id).filter((each) => each.answerable));
  const unanswerable = bySystem(here, (id) => outcomesOf(record, id).filter((each) => !each.answerable));
  const [first = [], ...others] = Object.values(answerable);
  const hasUnanswerable = first.length < outcomesOf(record, here[0]).length;
  return {
    rows: record.rows,
    rowsInAll: record.rowsInAll,
    queries: first.length,
    queriesInAll: record.queriesInAll,
    systems: bySystem(here, (id) => ofSystem(answerable[id] ?? [], record.systems[id]?.refused ?? 0)),
    differences: Object.fromEntries(
      others.map((other, i) => [here[i + 1], estimateMean(differences(first, other))]),
    ),
    categories: categoriesOf(answerable),
    ...(hasUnanswerable && { unanswerable: unanswerableOf(answerable, unanswerable) }),
  };
}

export function meansOf(
  records: readonly (RetrievalRecord | undefined)[],
  ids: readonly string[],
): MeanFigures {
  const whole = records.filter((each) => each !== undefined && ids.every((id) => id in each.systems));
  const answerableOf = (id: string | undefined) =>
    whole.map((record) => outcomesOf(record as RetrievalRecord, id).filter((each) => each.answerable));
  const valuesOf = (id: string, metric: Metric) =>
    answerableOf(id).map((outcomes) => valuesOfMetric(outcomes, metric));
  const [first, ...others] = ids;
  return {
    sets: whole.length,
    hit5: bySystem(ids, (id) => estimateMeanOfMeans(valuesOf(id, "hit5"))),
    ndcg10: bySystem(ids, (id) => estimateMeanOfMeans(valuesOf(id, "ndcg10"))),
    differences: bySystem(others, (id) => {
      const theirs = answerableOf(id);
      return estimateMeanOfMeans(
        answerableOf(first).map((ours, set) => differences(ours, theirs[set] ?? [])),
      );
    }),
  };
}

function ofSystem(outcomes: readonly Outcome[], refused: number): RetrievalOfSystem {
  const metrics = METRICS.map((metric) => [metric, valuesOfMetric(outcomes, metric)] as const)
    .filter(([, values]) => values.length > 0)
    .map(([metric, values]) => [metric, estimateMean(values)]);
  const strong = outcomes.filter(({ topScore }) => topScore > STRONG);
  return {
    refused,
    metrics: Object.fromEntries(metrics),
    strong: { queries: strong.length, right: strong.filter(({ hit1 }) => hit1 === 1).length },
  };
}

/**
 * Compares nDCG@10 query by query.
 *
 * @throws Error when the two were not asked the same
 */
function differences(ours: readonly Outcome[], theirs: readonly Outcome[]): number[] {
  if (ours.length !== theirs.length) throw new Error("two systems were not asked the same queries");
  return ours.map(({ id, ndcg10 }, i) => {
    const other = theirs[i] as Outcome;
    if (other.id !== id) throw new Error(`two systems were not asked the same queries: ${id}, ${other.id}`);
    return ndcg10 - other.ndcg10;
  });
}

function categoriesOf(answerable: BySystem<readonly Outcome[]>): Record<string, CategoryFigures> {
  const [first = []] = Object.values(answerable);
  const names = [...new Set(first.flatMap(({ category }) => category ?? []))].sort();
  if (names.length < 2 || names.length > CATEGORIES_MAX) return {};
  const figures = (name: string): CategoryFigures => {
    const inCategory = (outcomes: readonly Outcome[]) => outcomes.filter(({ category }) => category === name);
    const systems = Object.entries(answerable).map(
      ([id, outcomes]): [string, CategoryFigures["systems"][string]] => [
        id,
        {
          hit5: estimateMean(valuesOfMetric(inCategory(outcomes), "hit5")),
          ndcg10: estimateMean(valuesOfMetric(inCategory(outcomes), "ndcg10")),
        },
      ],
    );
    return { queries: inCategory(first).length, systems: Object.fromEntries(systems) };
  };
  return Object.fromEntries(names.map((name) => [name, figures(name)]));
}

function unanswerableOf(
  answerable: BySystem<readonly Outcome[]>,
  unanswerable: BySystem<readonly Outcome[]>,
): UnanswerableFigures {
  const ids = Object.keys(answerable);
  const scores = (outcomes: readonly Outcome[] = []) => outcomes.map(({ topScore }) => topScore);
  const systems = bySystem(ids, (id) => {
    const [higher, lower] = [scores(answerable[id]), scores(unanswerable[id])];
    return { area: areaOf(higher, lower), answerable: topScores(higher), unanswerable: topScores(lower) };
  });
  return { queries: Object.values(unanswerable)[0]?.length ?? 0, systems };
}

function areaOf(higher: readonly number[], lower: readonly number[]): Estimate {
  const drawn = replicates([higher.length, lower.length], (some, others) =>
    areaUnderCurve(
      Array.from(some as Int32Array, (i) => higher[i] as number),
      Array.from(others as Int32Array, (i) => lower[i] as number),
    ),
  );
  return estimate(areaUnderCurve(higher, lower), drawn);
}

function topScores(scores: readonly number[]): TopScores {
  const sorted = [...scores].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN;
  const strong = mean(scores.map((score) => Number(score > STRONG)));
  return { low: at(0.1), median: at(0.5), high: at(0.9), strong };
}

function outcomesOf({ systems }: RetrievalRecord, id = ""): readonly Outcome[] {
  return systems[id]?.outcomes ?? [];
}

function valuesOfMetric(outcomes: readonly Outcome[], metric: Metric): number[] {
  return outcomes.flatMap((outcome) => outcome[metric] ?? []);
}

function bySystem<T>(ids: readonly string[], valueIn: (id: string) => T): Record<string, T> {
  return Object.fromEntries(ids.map((id) => [id, valueIn(id)]));
}
