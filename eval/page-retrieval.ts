import { table } from "../bench/compare/table.js";
import { count, difference, isKnown, percent, share } from "./format.js";
import { grouped } from "./known-sets.js";
import { hybridOf, isHybrid } from "./options.js";
import type { Results, RetrievalFigures, TopScores } from "./results.js";

/** Share of the right or wrong rows that a floor must leave out for its set to be shown. */
const LEFT_OUT_MIN = 0.05;

export function meansPage(results: Results): string {
  const ids = Object.keys(results.systems);
  const compared = comparedIds(results);
  const head = [
    "Sets",
    "",
    ...ids.map((id) => nameOf(results, id)),
    ...compared.map((id) => `HYBRID less ${nameOf(results, id)}`),
  ];
  const rows = Object.entries(results.means).map(([group, { sets, ndcg10, differences }]) => [
    group,
    String(sets),
    ...ids.map((id) => share(ndcg10[id]?.value)),
    ...compared.map((id) => difference(differences[id])),
  ]);
  return table(head, rows);
}

/** Shows nDCG@10 of each set for the first model and BM25, and how often the first system has a right row among its first five. */
export function setsPage(results: Results): string {
  const ids = firstModelAndBm25(results);
  const [first = ""] = ids;
  const head = ["Set", "Queries", "Memories", ...ids.map((id) => nameOf(results, id)), "hit@5"];
  const rows = inGroups(results).map(([set, { queries, rows, systems, differences }]) => [
    set,
    count(queries),
    count(rows),
    ...ids.map((id) => {
      const text = share(systems[id]?.metrics.ndcg10?.value);
      return isKnown(differences[id]) ? `**${text}**` : text;
    }),
    share(systems[first]?.metrics.hit5?.value),
  ]);
  return table(head, rows);
}

/** Shows how often the best row scores above 0.80, and how often it is then a right one. */
export function strongPage(results: Results): string {
  const ids = modelsOf(results);
  const rows = grouped(Object.keys(results.retrieval)).map(([group, sets]) => {
    const figures = sets.map((set) => results.retrieval[set] as RetrievalFigures);
    const queries = sum(figures.map((each) => each.queries));
    return [
      group,
      ...ids.map((id) => {
        const above = sum(figures.map(({ systems }) => systems[id]?.strong.queries ?? 0));
        const right = sum(figures.map(({ systems }) => systems[id]?.strong.right ?? 0));
        return `${percent(above / queries)}, of those right ${percent(right / above)}`;
      }),
    ];
  });
  return table(["Sets", ...ids.map((id) => nameOf(results, id))], rows);
}

/** Shows how the best scores of queries with and without an answer differ. */
export function unanswerablePage(results: Results): string {
  // In an order by words, too, the first row's score is not the best one.
  const ids = Object.keys(results.systems).filter((id) => !isHybrid(id));
  const [model = ""] = modelsOf(results);
  const scores = ({ low, median, high }: TopScores) => `${share(median)} (${share(low)} to ${share(high)})`;
  const rows = Object.entries(results.retrieval).flatMap(([set, { unanswerable }]) => {
    const figures = unanswerable?.systems[model];
    if (figures === undefined) return [];
    return [
      [
        set,
        scores(figures.unanswerable),
        scores(figures.answerable),
        percent(figures.unanswerable.strong),
        ...ids.map((id) => share(unanswerable?.systems[id]?.area.value)),
      ],
    ];
  });
  const head = ["Set", "Without an answer", "With one", "Without one above 0.80"];
  return table([...head, ...ids.map((id) => `Told apart, ${nameOf(results, id)}`)], rows);
}

/** Shows what a floor costs and spares with the first model, in the sets where it matters. */
export function floorsPage(results: Results): string {
  const [id = ""] = firstModelAndBm25(results);
  const all = Object.entries(results.floors).flatMap(([set, systems]) => {
    const figures = systems[id];
    return figures === undefined ? [] : [{ set, ...figures }];
  });
  const listed = all.filter(
    ({ unanswerable, rightLost, wrongSpared }) =>
      unanswerable > 0 || Math.max(rightLost, wrongSpared) >= LEFT_OUT_MIN,
  );
  const rows = listed.map(({ set, rightLost, answersLost, wrongSpared, empty, unanswerable }) => [
    ...[set, percent(rightLost), percent(answersLost), percent(wrongSpared)],
    unanswerable === 0 ? "–" : `${percent(empty)} of ${count(unanswerable)}`,
  ]);
  const head = ["Set", "Right rows left out", "Answers lost", "Wrong rows left out", "Empty answers"];
  const rest = `In the ${all.length - listed.length} other sets it leaves out less than ${percent(LEFT_OUT_MIN)} of both.`;
  return `${table(head, rows)}\n${rest}`;
}

/** Shows how often the right fact comes first in each language. */
export function languagesPage(results: Results): string {
  const ids = firstModelAndBm25(results).filter((id) => id in results.languages);
  const names = Object.keys(results.languages[ids[0] ?? ""] ?? {});
  const rows = names.map((language) => [
    language,
    ...ids.map((id) => percent(results.languages[id]?.[language]?.hit1)),
  ]);
  return table(["Language", ...ids.map((id) => nameOf(results, id))], rows);
}

/** Lists the sets with their figures, group by group. */
function inGroups({ retrieval }: Results): [string, RetrievalFigures][] {
  return grouped(Object.keys(retrieval)).flatMap(([, sets]) =>
    sets.map((set): [string, RetrievalFigures] => [set, retrieval[set] as RetrievalFigures]),
  );
}

/** Systems that the first one was compared with in one run. */
function comparedIds({ systems, means }: Results): string[] {
  const all = Object.values(means);
  return Object.keys(systems).filter((id) => all.some(({ differences }) => differences[id] !== undefined));
}

function modelsOf({ systems }: Results): string[] {
  return Object.keys(systems).filter((id) => id !== "bm25" && !isHybrid(id));
}

/** First model with and without words, and BM25. */
function firstModelAndBm25(results: Results): string[] {
  const [model = ""] = modelsOf(results);
  return [hybridOf(model), model, "bm25"].filter((id) => id in results.systems);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0);
}

function nameOf({ systems }: Results, id: string): string {
  return systems[id]?.name ?? id;
}
