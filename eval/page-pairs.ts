import { table } from "../bench/compare/table.js";
import { count, interval, percent, percentInterval, rating, share } from "./format.js";
import { isHybrid } from "./options.js";
import { PITFALLS } from "./pitfalls.js";
import type { Results } from "./results.js";

/** Length above which only a text's ends are shown. */
const SHOWN_CHARACTERS_MAX = 60;

export function similarityPage(results: Results): string {
  const ids = Object.keys(results.systems).filter((id) => !isHybrid(id));
  const rows = Object.entries(results.similarity).map(([set, { pairs, pairsInAll, spearman }]) => [
    set,
    pairs === pairsInAll ? count(pairs) : `${count(pairs)} of ${count(pairsInAll)}`,
    ...ids.map((id) => interval(spearman[id])),
  ]);
  return table(["Set", "Pairs", ...names(results, ids)], rows);
}

export function abovePage(results: Results): string {
  const rows = Object.entries(results.strong).flatMap(([set, { pairs, same, systems }]) =>
    Object.entries(systems).map(([id, { above, precision, recall }]) => [
      set,
      results.systems[id]?.name ?? id,
      count(pairs),
      count(same),
      count(above),
      percentInterval(precision),
      percentInterval(recall),
    ]),
  );
  const head = [
    "Pairs of",
    "Model",
    "Pairs",
    "The same",
    "Above 0.80",
    "Of those the same",
    "Of the same above 0.80",
  ];
  return table(head, rows);
}

export function bandsPage(results: Results): string {
  const ids = Object.keys(results.bands);
  const [first = []] = Object.values(results.bands);
  const rows = first.map(({ from }, i) => [
    `${from.toFixed(1)} to ${(from + 0.1).toFixed(1)}`,
    ...ids.map((id) => {
      const { pairs = 0, meanRating, same } = results.bands[id]?.[i] ?? {};
      return pairs === 0 ? "0 pairs" : `${rating(meanRating)}, ${percent(same)} of ${count(pairs)}`;
    }),
  ]);
  return table(["Score", ...names(results, ids)], rows);
}

export function pitfallsPage(results: Results): string {
  const ids = Object.keys(results.pitfalls);
  const rows = PITFALLS.map(({ kind, stored, asked, truth }, i) => [
    kind,
    shown(stored),
    shown(asked),
    truth,
    ...ids.map((id) => share(results.pitfalls[id]?.[i])),
  ]);
  return table(["Kind", "Stored", "Asked", "A reader says", ...names(results, ids)], rows);
}

function shown(text: string): string {
  if (text.length <= SHOWN_CHARACTERS_MAX) return text;
  const words = text.split(" ").length;
  return `${words} words, among them: ${text.split(". ").find((sentence) => sentence.includes("peanuts"))}.`;
}

function names({ systems }: Results, ids: readonly string[]): string[] {
  return ids.map((id) => systems[id]?.name ?? id);
}
