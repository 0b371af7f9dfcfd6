import type { Memory } from "../../api";

/** Metadata columns that a list shows at most. */
export const COLUMNS_MAX = 6;

/** Columns that are shown before anyone chooses, and the number of memories that they are taken from. */
const USUAL_MAX = 2;
const SAMPLE_MAX = 50;

/** The keys that most of the memories have, with values that fit into a column. */
export function usualColumns(memories: readonly Memory[]): readonly string[] {
  const sample = memories.slice(0, SAMPLE_MAX);
  const counts = new Map<string, number>();
  for (const { metadata = {} } of sample)
    for (const [key, value] of Object.entries(metadata))
      if (typeof value !== "object") counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count * 2 >= sample.length)
    .sort(([, a], [, b]) => b - a)
    .slice(0, USUAL_MAX)
    .map(([key]) => key);
}

/** Reads a list of keys from JSON; undefined if it is none, as when somebody has typed it. */
export function columnsIn(json = ""): readonly string[] | undefined {
  try {
    const keys: unknown = JSON.parse(json);
    const isList = Array.isArray(keys) && keys.every((key) => typeof key === "string");
    return isList ? keys.slice(0, COLUMNS_MAX) : undefined;
  } catch {
    return undefined;
  }
}
