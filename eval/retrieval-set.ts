import { join } from "node:path";
import { readJsonl } from "./jsonl.js";

export type Side = "dev" | "heldout";

/** A text to find. */
export interface Row {
  readonly id: string;
  readonly text: string;
  /** Scope in which alone it is searched for: a conversation, a haystack, an entity. */
  readonly scope?: string;
  readonly label?: string;
  readonly session?: string;
  /** When it was said, to the minute: `2022-01-21T19:31`. */
  readonly date?: string;
}

/** A question, and the rows that answer it. */
export interface Query {
  readonly id: string;
  readonly text: string;
  /** Scopes whose union is searched; none means all rows. */
  readonly scopes: readonly string[];
  readonly category?: string;
  /** When it was asked, to the minute. */
  readonly date?: string;
  /** False if no row answers it. Such a query tells about thresholds only, not about recall. */
  readonly answerable: boolean;
  /** Ids of the rows that answer it. */
  readonly relevant: ReadonlySet<string>;
  /** Gains for nDCG, by the row's id. */
  readonly gains: ReadonlyMap<string, number>;
  /** Sessions that answer it; none if the set has no sessions. */
  readonly sessions: readonly string[];
}

export interface RetrievalSet {
  readonly name: string;
  readonly rows: readonly Row[];
  readonly queries: readonly Query[];
}

/** Query as the file has it. */
interface QueryLine {
  readonly id: string;
  readonly query: string;
  readonly relevant?: readonly string[];
  readonly relevant_label?: string;
  readonly grades?: Readonly<Record<string, number>>;
  readonly relevant_sessions?: readonly string[];
  readonly scope?: string | readonly string[];
  readonly category?: string;
  readonly question_date?: string;
}

/** Category of LoCoMo's questions about the wrong speaker. The rows that they cite do not answer them. */
const ADVERSARIAL = "adversarial";

/**
 * Reads the set.
 *
 * @throws Error that names what is missing or does not fit together.
 */
export function loadRetrievalSet(folder: string, { name, side }: { name: string; side: Side }): RetrievalSet {
  const base = join(folder, name);
  const found = readJsonl<Row>(join(base, "corpus")) ?? readJsonl<Row>(join(base, `corpus.${side}`));
  const lines = readJsonl<QueryLine>(join(base, `queries.${side}`));
  if (found === undefined) throw new Error(`${base} has no corpus.jsonl and no corpus.${side}.jsonl`);
  if (lines === undefined) throw new Error(`${base} has no queries.${side}.jsonl`);
  const namesSessions = lines.some(({ relevant_sessions }) => relevant_sessions !== undefined);
  const rows = namesSessions ? found : found.map(withOwnSession);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const labelled = idsByLabel(rows);
  const queries = lines.map((line) => {
    const relevant = line.relevant ?? labelled.get(line.relevant_label) ?? missing(base, line);
    const stray = relevant.find((id) => !byId.has(id));
    if (stray !== undefined)
      throw new Error(`${base}: query ${line.id} needs row ${stray}, which is not there`);
    return queryOf(line, relevant, sessionsOf(relevant.flatMap((id) => byId.get(id) ?? [])));
  });
  return { name, rows, queries };
}

function queryOf(line: QueryLine, relevant: readonly string[], around: readonly string[]): Query {
  const { id, query: text, scope = [], category, grades, relevant_sessions: sessions = around } = line;
  const date = line.question_date;
  return {
    id,
    text,
    scopes: typeof scope === "string" ? [scope] : scope,
    ...(category !== undefined && { category }),
    ...(date !== undefined && { date }),
    answerable: relevant.length > 0 && category !== ADVERSARIAL,
    relevant: new Set(relevant),
    gains: new Map(grades === undefined ? relevant.map((id) => [id, 1]) : Object.entries(grades)),
    sessions,
  };
}

/** Sessions that only count within their scope get names of their own: scopes may be searched together. */
function withOwnSession({ session, ...row }: Row): Row {
  return session === undefined ? row : { ...row, session: `${row.scope ?? ""} ${session}` };
}

/** Sessions of rows: those that answer a query, unless its line names them. */
function sessionsOf(rows: readonly Row[]): string[] {
  return [...new Set(rows.flatMap(({ session }) => session ?? []))];
}

function idsByLabel(rows: readonly Row[]): ReadonlyMap<string | undefined, readonly string[]> {
  const byLabel = new Map<string, string[]>();
  for (const { id, label } of rows) {
    if (label === undefined) continue;
    const ids = byLabel.get(label) ?? [];
    if (ids.length === 0) byLabel.set(label, ids);
    ids.push(id);
  }
  return byLabel;
}

function missing(base: string, { id }: QueryLine): never {
  throw new Error(`${base}: query ${id} has neither "relevant" nor a "relevant_label" that a row has`);
}
