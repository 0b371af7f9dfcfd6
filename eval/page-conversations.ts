import { table } from "../bench/compare/table.js";
import { type Estimate, estimateMean, mean } from "./bootstrap.js";
import { ANSWERS, type AnswerId, type Asked, type MeasuredSet, WEIGHTS } from "./conversation.js";
import { count, difference, interval } from "./format.js";
import type { Metric } from "./metrics.js";
import type { Sections } from "./page.js";

/** Category of LongMemEval that asks for the newest of several answers. */
const UPDATES = "knowledge-update";
const METRICS: Partial<Record<Metric, string>> = { hit1: "hit@1", ndcg10: "nDCG@10", sessionRecall: "R@5" };

/** Figures of all sets, as `eval/conversations.json` keeps them. */
export type Figures = Readonly<Record<string, SetFigures>>;

interface SetFigures {
  readonly rows: number;
  readonly refused: number;
  readonly questions: number;
  readonly answers: Readonly<Record<string, { any: Estimate; share: Estimate; tokens: number }>>;
  /** By the kind of question, and by the weight of recency. */
  readonly recency: Readonly<Record<string, { questions: number; byWeight: Record<string, ByMetric> }>>;
}

/** The metric, and what it is more than without recency. */
type ByMetric = Partial<Record<Metric, { value: Estimate; more: Estimate }>>;

/** Tables of docs/quality.md. */
export const SECTIONS: Sections<Figures> = { neighbors: neighborsPage, recency: recencyPage };

export function summarizeConversations(sets: Readonly<Record<string, MeasuredSet>>): Figures {
  return Object.fromEntries(Object.entries(sets).map(([name, set]) => [name, figuresOf(set)]));
}

function figuresOf({ rows, refused, asked }: MeasuredSet): SetFigures {
  const ids = Object.keys(ANSWERS) as AnswerId[];
  const answers = ids.map((id) => {
    const held = asked.map((each) => each.answers[id]);
    const of = (key: "any" | "share" | "tokens") => held.map((each) => each[key]);
    return [
      id,
      { any: estimateMean(of("any")), share: estimateMean(of("share")), tokens: mean(of("tokens")) },
    ];
  });
  const updates = asked.filter(({ category }) => category === UPDATES);
  return {
    rows,
    refused,
    questions: asked.length,
    answers: Object.fromEntries(answers),
    recency: {
      all: recencyOf(asked),
      ...(updates.length > 0 && { [UPDATES]: recencyOf(updates) }),
    },
  };
}

function recencyOf(asked: readonly Asked[]): SetFigures["recency"][string] {
  const weights = WEIGHTS.filter((weight) => asked.every(({ byWeight }) => weight in byWeight));
  const byWeight = weights.map((weight) => {
    const metrics = (Object.keys(METRICS) as Metric[]).map((metric) => {
      const [plain, weighed] = [0, weight].map((w) => asked.map((each) => each.byWeight[w]?.[metric] ?? 0));
      const more = (weighed ?? []).map((value, i) => value - (plain?.[i] ?? 0));
      return [metric, { value: estimateMean(weighed ?? []), more: estimateMean(more) }];
    });
    return [weight, Object.fromEntries(metrics)];
  });
  return { questions: asked.length, byWeight: Object.fromEntries(byWeight) };
}

function neighborsPage(figures: Figures): string {
  const rows = Object.entries(figures).flatMap(([set, { questions, rows, answers }]) =>
    Object.entries(answers).map(([answer, { any, share, tokens }]) => [
      ...[set, count(questions), count(rows), answer],
      ...[interval(any), interval(share), count(Math.round(tokens))],
    ]),
  );
  return table(["Set", "Questions", "Memories", "Answer", "Any", "Share", "Tokens"], rows);
}

function recencyPage(figures: Figures): string {
  const rows = Object.entries(figures).flatMap(([set, { recency }]) =>
    Object.entries(recency).flatMap(([kind, { questions, byWeight }]) =>
      Object.entries(byWeight)
        // Keys that look like whole numbers come first in an object, and others in their order: 0 is first.
        .filter(() => Object.keys(byWeight).length > 1)
        .map(([weight, metrics]) => [
          ...[set, kind, count(questions), weight === "0" ? "none" : weight],
          ...Object.keys(METRICS).map((metric) => {
            const { value, more } = metrics[metric as Metric] ?? {};
            return weight === "0" ? interval(value) : `${value?.value.toFixed(3)}, ${difference(more)}`;
          }),
        ]),
    ),
  );
  return table(["Set", "Asked", "Questions", "Weight", ...Object.values(METRICS)], rows);
}
