import type { Item } from "@langchain/langgraph-checkpoint";
import type { Json, Metadata, StoreItem } from "../../contract.js";
import { RecalldError } from "../../errors.js";
import { idOf, keyOf } from "./names.js";
import { textsAt } from "./texts.js";

/** Key in the metadata of what no query finds. A filter can ask for it, so a key of the value it cannot be. */
export const UNINDEXED = "recalld_unindexed";
/** Text of what has none to search by: a memory cannot be without. */
const NO_TEXT = "(not indexed)";

export type Value = Record<string, unknown>;

/** The part of a memory that lists and recalls both tell. */
export interface Found {
  readonly externalId?: string;
  readonly metadata?: Metadata;
  readonly createdAt?: string;
  readonly updatedAt?: string;
}

/** Makes the memory that an item is kept as: its value is the metadata, its key the external id. */
export function memoryOf({
  key,
  value,
  fields,
}: {
  key: string;
  value: Value;
  fields: readonly string[];
}): StoreItem {
  if (Object.hasOwn(value, UNINDEXED)) {
    throw new RecalldError("invalid_argument", `a value has no key ${UNINDEXED}: the store uses it`, {
      field: "value",
    });
  }
  const text = fields.flatMap((path) => textsAt(value, path)).join("\n");
  const isBlank = text.trim() === "";
  const own = isBlank ? { [UNINDEXED]: true } : {};
  return {
    text: isBlank ? NO_TEXT : text,
    externalId: idOf(key),
    onConflict: "REPLACE",
    metadata: { ...(value as Record<string, Json>), ...own },
  };
}

/** Makes the item of a memory; undefined if this store did not write it. */
export function itemOf(namespace: readonly string[], memory: Found): Item | undefined {
  const { externalId = "", metadata = {}, createdAt = "", updatedAt = createdAt } = memory;
  const key = keyOf(externalId);
  if (key === undefined) return undefined;
  const { [UNINDEXED]: _, ...value } = metadata;
  return {
    value,
    key,
    namespace: [...namespace],
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
  };
}
