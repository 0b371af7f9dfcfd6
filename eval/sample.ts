import { createHash } from "node:crypto";
import type { Query, RetrievalSet, Row } from "./retrieval-set.js";

/** Amount of the data that is used. */
export interface Extent {
  readonly queriesMax: number;
  /**
   * Limit of rows of the scopes that the chosen queries search. A set without scopes is always stored whole.
   */
  readonly scopedRowsMax: number;
  readonly pairsMax: number;
  /** Sets with more characters to store are left out. */
  readonly charactersMax: number;
}

/** Extent for intervals of about ±0.03, which two cores measure within half an hour. */
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

/** Seed of the sample. Another seed takes other queries, so runs before and after are not comparable. */
const SEED = 1;

export interface Sample {
  readonly queries: readonly Query[];
  /** Rows to store for the queries, by scope; the scope of rows without one is "". */
  readonly rows: ReadonlyMap<string, readonly Row[]>;
}

/** Puts all rows into one scope, in which every query searches. */
export function pooled({ queries, rows }: Sample): Sample {
  return {
    queries: queries.map((query) => ({ ...query, scopes: [] })),
    rows: new Map([["", [...rows.values()].flat()]]),
  };
}

/** Takes the same queries for every system and on every machine. */
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

/** Orders items independently of their content. Further items do not change the order. */
export function shuffled<T extends { readonly id: string }>(items: readonly T[]): T[] {
  const key = ({ id }: T) => createHash("sha256").update(`${SEED}:${id}`).digest("hex");
  return items
    .map((item) => ({ item, key: key(item) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ item }) => item);
}

/** Groups rows by their scopes; the scope of rows without one is "". */
export function rowsByScope(rows: readonly Row[]): Map<string, Row[]> {
  const byScope = new Map<string, Row[]>();
  for (const row of rows) {
    const scope = row.scope ?? "";
    const others = byScope.get(scope);
    if (others === undefined) byScope.set(scope, [row]);
    else others.push(row);
  }
  return byScope;
}
