import type { Json, Metadata } from "../../contract.js";

/** Filters that must all match. */
type Filters = Metadata[];

/**
 * Turns a filter of LangGraph's into filters of recalld's: a key is one key of the value, whatever characters
 * it has, and an object without operators is looked into. A key with a dollar sign, such as `$or` or
 * `$created_at`, is recalld's own and stays as it is.
 */
export function filtersOf(filter: Readonly<Record<string, unknown>> = {}): Filters {
  return Object.entries(filter).flatMap(([key, wanted]) =>
    key.startsWith("$") ? [{ [key]: wanted as Json }] : conditions(escaped(key), wanted),
  );
}

/** Joins filters, of which there is at least one. */
export function allOf(filters: Filters): Metadata {
  return { $and: filters };
}

function conditions(path: string, wanted: unknown): Filters {
  // What is missing is undefined.
  if (wanted === undefined) return [{ [path]: { $exists: false } }];
  if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted)) {
    return [{ [path]: wanted as Json }];
  }
  const members = Object.entries(wanted);
  if (members.some(([key]) => key.startsWith("$"))) return [{ [path]: wanted as Json }];
  return members.flatMap(([key, inner]) => conditions(`${path}.${escaped(key)}`, inner));
}

function escaped(key: string): string {
  return key.replace(/[.\\]/g, "\\$&");
}
