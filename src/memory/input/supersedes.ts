import { invalid } from "../../errors.js";
import { parseMemoryId } from "./id.js";

/** Maximum number of memories that one store supersedes. */
export const SUPERSEDES_MAX = 16;

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
