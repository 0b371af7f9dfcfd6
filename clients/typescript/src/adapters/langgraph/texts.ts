/** A part of a path: an index or `[*]`, a choice of fields in braces, or a name. */
const TOKEN = /\[[^\]]*\]|\{[^}]*\}|[^.[{]+/g;

/**
 * Finds the texts at a path of a value, in LangGraph's language: `a.b`, `list[0]`, `list[-1]`, `list[*].c`,
 * `*`, `{a,b.c}`; `$` is the whole value as JSON.
 */
export function textsAt(value: unknown, path: string): string[] {
  if (path === "" || path === "$") return [JSON.stringify(value)];
  return descend(value, path).flatMap(written);
}

function descend(value: unknown, path: string): unknown[] {
  let found: unknown[] = [value];
  for (const token of path.match(TOKEN) ?? []) found = found.flatMap((each) => step(each, token));
  return found;
}

function step(value: unknown, token: string): unknown[] {
  const inner = token.slice(1, -1);
  if (token.startsWith("[")) return Array.isArray(value) ? elements(value, inner) : [];
  if (typeof value !== "object" || value === null) return [];
  if (token === "*") return Object.values(value);
  if (token.startsWith("{")) return inner.split(",").flatMap((path) => descend(value, path.trim()));
  return Object.hasOwn(value, token) ? [(value as Record<string, unknown>)[token]] : [];
}

function elements(list: readonly unknown[], index: string): unknown[] {
  if (index === "*") return [...list];
  return /^-?\d+$/.test(index) ? [list.at(Number(index))] : [];
}

function written(value: unknown): string[] {
  if (value === null || value === undefined) return [];
  return [typeof value === "object" ? JSON.stringify(value) : String(value)];
}
