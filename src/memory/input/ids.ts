import { invalid } from "../../errors.js";
import { count } from "./count.js";
import { parseMemoryId } from "./id.js";

/** Maximum number of memories that one store supersedes. */
const SUPERSEDES_MAX = 16;

export const IDS_MAX = 256;

/** Parses the ids of several memories: 1–256, each once in the answer. @throws MemoryError naming `ids[3]` */
export function parseMemoryIds(values: readonly string[]): string[] {
  if (values.length === 0) throw invalid("ids", "is missing");
  if (values.length > IDS_MAX) {
    throw invalid("ids", `has ${count(values.length)} ids; the limit is ${IDS_MAX}`);
  }
  return [...new Set(values.map((value, i) => parseMemoryId(value, `ids[${i}]`)))];
}

/** Parses the ids of the memories that a store supersedes: at most 16, each once. */
export function parseSupersedes(ids: readonly string[]): readonly string[] {
  if (ids.length > SUPERSEDES_MAX) {
    throw invalid("supersedes", `has ${ids.length} ids; the limit is ${SUPERSEDES_MAX}`);
  }
  for (const [i, id] of ids.entries()) {
    parseMemoryId(id, `supersedes[${i}]`);
    if (ids.indexOf(id) < i) throw invalid(`supersedes[${i}]`, "is given twice");
  }
  return ids;
}
