import { table } from "../bench/compare/table.js";
import { count, percent, percentInterval, rating, share } from "./format.js";
import { isHybrid } from "./options.js";
import { PITFALLS } from "./pitfalls.js";
import type { Results } from "./results.js";

/** Length above which only a text's ends are shown. */
const CELL_CHARS_MAX = 60;

export function similarityPage(results: Results): string {
  const ids = Object.keys(results.systems).filter((id) => !isHybrid(id));
  const rows = Object.entries(results.similarity).map(([set, { pairs, pairsInAll, spearman }]) => [
    set,
    pairs === pairsInAll ? count(pairs) : `${count(pairs)} of ${count(pairsInAll)}`,
    ...ids.map((id) => share(spearman[id]?.value)),
  ]);
  return table(["Set", "Pairs", ...names(results, ids)], rows);
}

export function abovePage(results: Results): string {
  const rows = Object.entries(results.strong).flatMap(([set, { pairs, systems }]) =>
    Object.entries(systems).map(([id, { above, precision, recall }]) => [
      set,
      results.systems[id]?.name ?? id,
      count(pairs),
      percent(above / pairs),
      percentInterval(precision),
      percentInterval(recall),
    ]),
  );
  const head = ["Pairs of", "Model", "Pairs", "Above 0.80", "Of those the same", "Of the same above 0.80"];
  return table(head, rows);
}

/** Shows how people rate the pairs in each tenth of the first model's score. */
export function bandsPage(results: Results): string {
  const [bands = []] = Object.values(results.bands);
  const rows = bands.map(({ from, pairs, meanRating, same }) => [
    `${from.toFixed(1)} to ${(from + 0.1).toFixed(1)}`,
    count(pairs),
    rating(meanRating),
    percent(same),
  ]);
  return table(["Score", "Pairs", "Mean rating", "Rated at least 4"], rows);
}

/** Shows the first example of each kind and truth, with the score of the first model. */
export function pitfallsPage(results: Results): string {
  const [id = ""] = Object.keys(results.pitfalls);
  const seen = new Set<string>();
  const rows = PITFALLS.flatMap(({ kind, stored, asked, truth }, i) => {
    const example = `${kind}: ${truth}`;
    if (seen.has(example)) return [];
    seen.add(example);
    return [[shorten(stored), shorten(asked), truth, share(results.pitfalls[id]?.[i])]];
  });
  return table(["Stored", "Asked", "A reader says", "Score"], rows);
}

function shorten(text: string): string {
  if (text.length <= CELL_CHARS_MAX) return text;
  const words = text.split(" ").length;
  return `${words} words, among them: ${text.split(". ").find((sentence) => sentence.includes("peanuts"))}.`;
}

function names({ systems }: Results, ids: readonly string[]): string[] {
  return ids.map((id) => systems[id]?.name ?? id);
}
