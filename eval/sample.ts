import { createHash } from "node:crypto";
import type { Query, RetrievalSet, Row } from "./retrieval-set.js";

/** How much of the data is used. */
export interface Extent {
  readonly queriesMax: number;
  /** Rows of the scopes that the chosen queries search; a set without scopes is always stored whole. */
  readonly scopedRowsMax: number;
  readonly pairsMax: number;
  /** Sets with more characters to store are left out. */
  readonly charactersMax: number;
}

/** Enough for intervals of about ±0.03, within what two cores do in half an hour. */
export const USUAL: Extent = {
  queriesMax: 1000,
  scopedRowsMax: 25_000,
  pairsMax: 1500,
  charactersMax: Number.POSITIVE_INFINITY,
};
export const QUICK: Extent = {
  queriesMax: 200,
  scopedRowsMax: 2500,
  pairsMax: 300,
  charactersMax: 450_000,
};
export const FULL: Extent = {
  queriesMax: Number.POSITIVE_INFINITY,
  scopedRowsMax: Number.POSITIVE_INFINITY,
  pairsMax: Number.POSITIVE_INFINITY,
  charactersMax: Number.POSITIVE_INFINITY,
};

/** Changing it changes which queries are taken, so runs before and after are not comparable. */
const SEED = 1;

export interface Sample {
  readonly queries: readonly Query[];
  /** What must be stored for them, by scope; the scope of rows without one is "". */
  readonly rows: ReadonlyMap<string, readonly Row[]>;
}

/** The same queries for every system and on every machine. */
export function sampleOf(set: RetrievalSet, { queriesMax, scopedRowsMax }: Extent): Sample {
  const byScope = rowsByScope(set.rows);
  const isScoped = !(byScope.size === 1 && byScope.has(""));
  const rows = new Map(isScoped ? [] : byScope);
  const queries: Query[] = [];
  let size = 0;
  for (const query of shuffled(set.queries)) {
    const more = query.scopes.filter((scope) => !rows.has(scope));
    size += more.reduce((sum, scope) => sum + (byScope.get(scope)?.length ?? 0), 0);
    if (queries.length >= queriesMax || (isScoped && size > scopedRowsMax)) break;
    for (const scope of more) rows.set(scope, byScope.get(scope) ?? []);
    queries.push(query);
  }
  return { queries, rows };
}

/** In an order that has nothing to do with what is in them, and that further items do not change. */
export function shuffled<T extends { readonly id: string }>(items: readonly T[]): T[] {
  const key = ({ id }: T) => createHash("sha256").update(`${SEED}:${id}`).digest("hex");
  return items
    .map((item) => ({ item, key: key(item) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ item }) => item);
}

function rowsByScope(rows: readonly Row[]): Map<string, Row[]> {
  const byScope = new Map<string, Row[]>();
  for (const row of rows) {
    const scope = row.scope ?? "";
    const others = byScope.get(scope);
    if (others === undefined) byScope.set(scope, [row]);
    else others.push(row);
  }
  return byScope;
}
