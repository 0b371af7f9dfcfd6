import { table } from "../bench/compare/table.js";
import { type Estimate, estimateMean, mean } from "./bootstrap.js";
import { ANSWERS, type AnswerId, type Asked, type MeasuredSet, WEIGHTS } from "./conversation.js";
import { count, difference, share } from "./format.js";
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
    const valuesOf = (key: "any" | "share" | "tokens") => held.map((each) => each[key]);
    return [
      id,
      {
        any: estimateMean(valuesOf("any")),
        share: estimateMean(valuesOf("share")),
        tokens: mean(valuesOf("tokens")),
      },
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

/** Shows each answer in a row, and each set in a column: any, share and tokens. */
function neighborsPage(figures: Figures): string {
  const sets = Object.entries(figures);
  const rows = Object.keys(ANSWERS).map((answer) => [
    answer,
    ...sets.map(([, { answers }]) => {
      const { any, share: found, tokens } = answers[answer] ?? {};
      return `${share(any?.value)}, ${share(found?.value)}, ${count(Math.round(tokens ?? 0))}`;
    }),
  ]);
  return table(["Answer", ...sets.map(([set, { questions }]) => `${set} (${count(questions)})`)], rows);
}

/** Shows nDCG@10 without recency, and what each weight adds. */
function recencyPage(figures: Figures): string {
  const weights = WEIGHTS.filter((weight) => weight > 0);
  const rows = Object.entries(figures).flatMap(([set, { recency }]) =>
    Object.entries(recency)
      .filter(([, { byWeight }]) => Object.keys(byWeight).length > 1)
      .map(([kind, { questions, byWeight }]) => [
        ...[kind === "all" ? set : `${set}, ${kind}`, count(questions)],
        share(byWeight[0]?.ndcg10?.value.value),
        ...weights.map((weight) => difference(byWeight[weight]?.ndcg10?.more)),
      ]),
  );
  return table(["Set", "Questions", "None", ...weights.map(String)], rows);
}
