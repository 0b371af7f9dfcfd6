import { table } from "../bench/compare/table.js";
import { count, difference, interval, percent, share } from "./format.js";
import { grouped, MEMORY_GROUP } from "./known-sets.js";
import type { Metric } from "./metrics.js";
import { isHybrid } from "./options.js";
import type { Results, RetrievalFigures, TopScores } from "./results.js";

export function meansPage(results: Results): string {
  const [ids, others] = systemsOf(results);
  const head = [
    "Sets",
    "",
    ...ids.map((id) => nameOf(results, id)),
    ...others.map((id) => lessName(results, id)),
  ];
  const rows = Object.entries(results.means).map(([group, { sets, ndcg10, differences }]) => [
    group,
    String(sets),
    ...ids.map((id) => interval(ndcg10[id])),
    ...others.map((id) => difference(differences[id])),
  ]);
  return table(head, rows);
}

export function ndcgPage(results: Results): string {
  const [ids, others] = systemsOf(results);
  const head = [
    "Set",
    "Queries",
    ...ids.map((id) => nameOf(results, id)),
    ...others.map((id) => lessName(results, id)),
  ];
  return byGroup(results, head, (figures) => [
    outOf(figures.queries, figures.queriesInAll),
    ...ids.map((id) => interval(figures.systems[id]?.metrics.ndcg10)),
    ...others.map((id) => difference(figures.differences[id])),
  ]);
}

export function hitsPage(results: Results): string {
  const [ids] = systemsOf(results);
  const head = ["Set", "Memories", ...ids.map((id) => nameOf(results, id))];
  const hits = ({ systems }: RetrievalFigures, id: string) =>
    (["hit1", "hit5", "hit10"] as const)
      .map((metric) => share(systems[id]?.metrics[metric]?.value))
      .join(", ");
  return byGroup(results, head, (figures) => [
    outOf(figures.rows, figures.rowsInAll),
    ...ids.map((id) => hits(figures, id)),
  ]);
}

export function sessionsPage(results: Results): string {
  const [ids] = systemsOf(results);
  const names: Partial<Record<Metric, string>> = {
    sessionRecall: "share of them (R@5)",
    sessionAny: "any of them",
    sessionAll: "all of them",
  };
  const rows = Object.entries(results.retrieval)
    .filter(([, { systems }]) => Object.values(systems).some(({ metrics }) => metrics.sessionRecall))
    .flatMap(([set, { queries, systems }]) =>
      Object.entries(names).map(([metric, name]) => [
        set,
        String(queries),
        name,
        ...ids.map((id) => interval(systems[id]?.metrics[metric as Metric])),
      ]),
    );
  return table(["Set", "Queries", "Among the first five", ...ids.map((id) => nameOf(results, id))], rows);
}

export function categoriesPage(results: Results): string {
  const [ids] = systemsOf(results);
  const memory = grouped(Object.keys(results.retrieval)).find(([group]) => group === MEMORY_GROUP)?.[1] ?? [];
  const rows = memory.flatMap((set) =>
    Object.entries(results.retrieval[set]?.categories ?? {}).map(([category, { queries, systems }]) => [
      set,
      category,
      String(queries),
      ...ids.map((id) => `${share(systems[id]?.hit5.value)}, ${interval(systems[id]?.ndcg10)}`),
    ]),
  );
  return table(["Set", "Category", "Queries", ...ids.map((id) => nameOf(results, id))], rows);
}

/** Shows how often the best row scores above 0.80, and how often it is then a right one. */
export function strongPage(results: Results): string {
  const ids = modelsOf(results);
  const head = ["Set", "Queries", ...ids.map((id) => nameOf(results, id))];
  return byGroup(results, head, ({ queries, systems }) => [
    count(queries),
    ...ids.map((id) => {
      const { queries: above = 0, right = 0 } = systems[id]?.strong ?? {};
      return `${percent(above / queries)}, of those right ${percent(right / above)}`;
    }),
  ]);
}

export function unanswerablePage(results: Results): string {
  // In an order by words, too, the first row's score is not the best one.
  const ids = systemsOf(results)[0].filter((id) => !isHybrid(id));
  const scores = ({ low, median, high }: TopScores) => `${share(median)} (${share(low)} to ${share(high)})`;
  const rows = Object.entries(results.retrieval).flatMap(([set, { queries, unanswerable }]) =>
    ids.flatMap((id) => {
      const of = unanswerable?.systems[id];
      if (of === undefined) return [];
      const above = (top: TopScores) => (id === "bm25" ? "–" : percent(top.strong));
      return [
        [
          set,
          `${unanswerable?.queries} and ${queries}`,
          nameOf(results, id),
          scores(of.unanswerable),
          scores(of.answerable),
          interval(of.area),
          `${above(of.unanswerable)} and ${above(of.answerable)}`,
        ],
      ];
    }),
  );
  const head = ["Set", "Queries", "System", "Without an answer", "With one", "Told apart", "Above 0.80"];
  return table(head, rows);
}

/** Shows what a floor costs and spares. */
export function floorsPage(results: Results): string {
  const rows = Object.entries(results.floors).flatMap(([set, systems]) =>
    Object.entries(systems).map(([id, of]) => [
      ...[set, nameOf(results, id), percent(of.rightLost), percent(of.answersLost), percent(of.wrongSpared)],
      of.unanswerable === 0 ? "–" : `${percent(of.empty)} of ${count(of.unanswerable)}`,
    ]),
  );
  const head = [
    ...["Set", "System", "Right rows left out", "Answers lost", "Wrong rows left out"],
    "Questions without an answer that get none",
  ];
  return table(head, rows);
}

/** Shows how often the right fact comes first in each language, and its nDCG@10. */
export function languagesPage(results: Results): string {
  const ids = systemsOf(results)[0].filter((id) => id in results.languages);
  const names = Object.keys(results.languages[ids[0] ?? ""] ?? {});
  const rows = names.map((language) => [
    language,
    ...ids.map((id) => {
      const { hit1, ndcg10 } = results.languages[id]?.[language] ?? {};
      return `${percent(hit1)}, ${share(ndcg10)}`;
    }),
  ]);
  return table(["Language", ...ids.map((id) => nameOf(results, id))], rows);
}

function byGroup(results: Results, head: string[], cells: (figures: RetrievalFigures) => string[]): string {
  return grouped(Object.keys(results.retrieval))
    .map(([group, sets]) => {
      const rows = sets.map((set) => [set, ...cells(results.retrieval[set] as RetrievalFigures)]);
      return `${group}:\n\n${table(head, rows)}`;
    })
    .join("\n");
}

/** All systems, and those that the first is compared with: all that do not order by words, too. */
function systemsOf({ systems }: Results): [string[], string[]] {
  const ids = Object.keys(systems);
  return [ids, ids.slice(1).filter((id) => !isHybrid(id))];
}

function modelsOf(results: Results): string[] {
  return systemsOf(results)[0].filter((id) => id !== "bm25" && !isHybrid(id));
}

function nameOf({ systems }: Results, id: string): string {
  return systems[id]?.name ?? id;
}

function lessName(results: Results, id: string): string {
  return `${nameOf(results, Object.keys(results.systems)[0] as string)} less ${nameOf(results, id)}`;
}

function outOf(some: number, all: number): string {
  return some === all ? count(all) : `${count(some)} of ${count(all)}`;
}
