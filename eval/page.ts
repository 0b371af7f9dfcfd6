import { count } from "./format.js";
import { isHybrid } from "./options.js";
import { comparedPage } from "./page-compared.js";
import { abovePage, bandsPage, pitfallsPage, similarityPage } from "./page-pairs.js";
import {
  floorsPage,
  languagesPage,
  meansPage,
  setsPage,
  strongPage,
  unanswerablePage,
} from "./page-retrieval.js";
import type { Results } from "./results.js";

/** Tables of a page by the names of their markers. */
export type Sections<R = Results> = Readonly<Record<string, (results: R) => string>>;

/** Tables of docs/quality.md. */
export const QUALITY: Sections = {
  run: runPage,
  means: meansPage,
  sets: setsPage,
  similarity: similarityPage,
  above: abovePage,
  bands: bandsPage,
  strong: strongPage,
  unanswerable: unanswerablePage,
  pitfalls: pitfallsPage,
};

/** Tables of docs/compared.md. */
export const COMPARED: Sections = {
  compared: comparedPage,
  languages: languagesPage,
  floors: floorsPage,
};

/**
 * Replaces the page's tables by those of a run of a command.
 *
 * @throws Error when a marker is missing.
 */
export function withTables<R = Results>(
  page: string,
  sections: Sections<R>,
  results: R,
  command = "npm run eval -- quality",
): string {
  return Object.entries(sections).reduce((text, [name, section]) => {
    const [begin, end] = [`<!-- \`${command}\` writes: ${name} -->`, `<!-- End of ${name}. -->`];
    const [before, rest] = text.split(begin);
    const [, after] = rest?.split(end) ?? [];
    if (before === undefined || after === undefined) throw new Error(`the page lacks ${begin} or ${end}`);
    return `${before}${begin}\n\n${section(results).trimEnd()}\n\n${end}${after}`;
  }, page);
}

/** Writes all tables of a run that is not the page's. */
export function allTables(results: Results): string {
  return [...Object.entries(QUALITY), ...Object.entries(COMPARED)]
    .map(([name, section]) => `## ${name}\n\n${section(results)}`)
    .join("\n");
}

function runPage({ version, side, queriesMax, systems, retrieval }: Results): string {
  const models = Object.entries(systems).filter(([id]) => !isHybrid(id));
  const measured = models.map(([, { name, revision, date, machine }]) => {
    const version = revision === undefined ? "" : ` (revision \`${revision}\`)`;
    return `- ${name}${version}: ${date}, ${machine}`;
  });
  const most = queriesMax === null ? "All queries" : `At most ${count(queriesMax)} queries`;
  const figures = Object.values(retrieval);
  const queries = figures.reduce((sum, each) => sum + each.queries, 0);
  const stored = figures.reduce((sum, each) => sum + each.rows, 0);
  const text = `recalld ${version}, the ${side} side of the data. ${most} of each set: ${count(queries)} answerable queries to ${count(stored)} memories in ${figures.length} sets.`;
  return `${text}${refusals(retrieval)}\n\n${measured.join("\n")}`;
}

/** Rows that were not stored cannot be found, so the page says how many they are. */
function refusals(retrieval: Results["retrieval"]): string {
  const said = Object.entries(retrieval).flatMap(([set, { systems }]) => {
    const [worst = 0] = Object.values(systems)
      .map(({ refused }) => refused)
      .sort((a, b) => b - a);
    return worst > 0 ? [`${set} ${count(worst)}`] : [];
  });
  return said.length === 0
    ? ""
    : `\n\n**Rows that were refused, and could not be found: ${said.join(", ")}.**`;
}
