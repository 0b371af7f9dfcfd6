import { typeid } from "typeid-js";
import { invalid } from "../../errors.js";

/** A new memory's id: `mem_` and 26 characters of base32 UUIDv7, sortable by time. */
export function newMemoryId(): string {
  return typeid("mem").toString();
}

/** A new operation's id, for entries of the log that are no memories. */
export function newOperationId(): string {
  return typeid("op").toString();
}

/** An id as `newMemoryId` makes them: the first digit cannot be above 7 in 128 bits. */
export function parseMemoryId(value: string): string {
  if (value === "") throw invalid("id", "is missing");
  if (!/^mem_[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(value))
    throw invalid("id", "is not of the form mem_…, 30 characters");
  return value;
}
