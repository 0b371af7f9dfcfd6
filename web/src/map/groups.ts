import type { Contents } from "./contents";

/** Colours that a map has, named `--map-group-1` and so on in the style sheet. */
const COLOURS = 7;
/** Keys that are offered at most, those that most memories have. */
const KEYS_MAX = 40;

export type Value = string | number | boolean;

/** Memories that have one value of a key, in one colour. */
export interface Group {
  /** Number of its colour, from 1. */
  readonly colour: number;
  readonly value: Value;
  readonly ids: readonly string[];
}

/** Lists the keys of the metadata by which the memories differ. */
export function keysOf(contents: Contents): string[] {
  const found = new Map<string, { values: Set<Value>; many: number }>();
  for (const { metadata } of contents.values()) {
    for (const [key, value] of Object.entries(metadata)) {
      if (!isValue(value)) continue;
      const { values, many } = found.get(key) ?? { values: new Set(), many: 0 };
      found.set(key, { values: values.add(value), many: many + 1 });
    }
  }
  return [...found]
    .filter(([, { values, many }]) => values.size > 1 && values.size < many)
    .sort(([, a], [, b]) => b.many - a.many)
    .slice(0, KEYS_MAX)
    .map(([key]) => key);
}

/** Groups the memories by a key's values; only the most frequent values have a colour. */
export function groupsOf(contents: Contents, key: string): Group[] {
  const byValue = new Map<Value, string[]>();
  for (const [id, { metadata }] of contents) {
    const value = metadata[key];
    if (!isValue(value)) continue;
    const ids = byValue.get(value) ?? [];
    ids.push(id);
    byValue.set(value, ids);
  }
  return [...byValue]
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, COLOURS)
    .map(([value, ids], i) => ({ colour: i + 1, value, ids }));
}

function isValue(value: unknown): value is Value {
  return ["string", "number", "boolean"].includes(typeof value);
}
