import { invalid } from "../../errors.js";
import { count } from "./count.js";
import { parseMemoryId } from "./id.js";

export const IDS_MAX = 256;

/** Parses the ids of several memories: 1–256, each once in the answer. @throws MemoryError naming `ids[3]` */
export function parseMemoryIds(values: readonly string[]): string[] {
  if (values.length === 0) throw invalid("ids", "is missing");
  if (values.length > IDS_MAX) {
    throw invalid("ids", `has ${count(values.length)} ids; the limit is ${IDS_MAX}`);
  }
  return [...new Set(values.map((value, i) => parseMemoryId(value, `ids[${i}]`)))];
}
