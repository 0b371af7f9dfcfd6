import type { Condition, Filter } from "./condition.js";

/** Instants in milliseconds since 1970; a memory that was stored at one of them is out. */
export interface Between {
  readonly after?: number | undefined;
  readonly before?: number | undefined;
}

/** Narrows a filter to memories that were stored between two instants. */
export function narrowed(filter: Filter | undefined, { after, before }: Between): Filter | undefined {
  const tests: Condition[] = [];
  if (after !== undefined) tests.push(created({ op: "gt", than: after }));
  if (before !== undefined) tests.push(created({ op: "lt", than: before }));
  if (tests.length === 0) return filter;
  const of = filter === undefined ? tests : [...tests, filter.condition];
  return { condition: { kind: "all", of }, key: JSON.stringify([filter?.key, after, before]) };
}

function created(test: { op: "gt" | "lt"; than: number }): Condition {
  return { kind: "test", field: "$created_at", test };
}
