import { typeid } from "typeid-js";

/** A new memory's id: `mem_` and 26 characters of base32 UUIDv7, sortable by time. */
export function newMemoryId(): string {
  return typeid("mem").toString();
}
