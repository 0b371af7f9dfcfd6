import { TypeID, typeid } from "typeid-js";
import { expectAtMost, invalid } from "../../errors.js";

/** Maximum number of memories that one store supersedes. */
export const SUPERSEDES_MAX = 16;

export const IDS_MAX = 256;

/** Makes a memory's id: `mem_` and 26 characters of base32 UUIDv7, sortable by time. */
export function newMemoryId(): string {
  return typeid("mem").toString();
}

/** Makes up to 256 ids that differ in their last byte from this one, in their order. */
export function memoryIdsLike(id: string, count: number): string[] {
  const bytes = TypeID.fromString(id, "mem").toUUIDBytes();
  return Array.from({ length: count }, (_, i) => {
    bytes[bytes.length - 1] = i;
    return TypeID.fromUUIDBytes("mem", bytes).toString();
  });
}

/** Makes an operation's id, for log entries that are not memories. */
export function newOperationId(): string {
  return typeid("op").toString();
}

/** Form of the ids of `newMemoryId`: in 128 bits the first digit cannot be above 7. */
export function parseMemoryId(value: string, field = "id"): string {
  if (value === "") throw invalid(field, "is missing");
  if (!/^mem_[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(value))
    throw invalid(field, "is not of the form mem_…, 30 characters");
  return value;
}

/** Parses the ids of several memories: 1–256, each once in the answer. @throws MemoryError naming `ids[3]` */
export function parseMemoryIds(values: readonly string[]): string[] {
  if (values.length === 0) throw invalid("ids", "is missing");
  expectAtMost(IDS_MAX, "ids", values, "ids");
  return [...new Set(values.map((value, i) => parseMemoryId(value, `ids[${i}]`)))];
}

/** Parses the ids of the memories that a store supersedes: at most 16, each once. */
export function parseSupersedes(ids: readonly string[]): readonly string[] {
  expectAtMost(SUPERSEDES_MAX, "supersedes", ids, "ids");
  for (const [i, id] of ids.entries()) {
    parseMemoryId(id, `supersedes[${i}]`);
    if (ids.indexOf(id) < i) throw invalid(`supersedes[${i}]`, "is given twice");
  }
  return ids;
}
