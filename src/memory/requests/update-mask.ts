import { expectAtMost, invalid, safeName } from "../../errors.js";
import { isObject, type JsonObject } from "./metadata.js";

/** Maximum number of paths: more than metadata of 16,384 bytes can have keys. */
const MASK_PATHS_MAX = 8_192;
const KEY_PREFIX = "metadata.";

/** Fields of a memory that an update changes. */
export interface Mask {
  readonly text: boolean;
  readonly expiry: boolean;
  readonly eventTime: boolean;
  /** All metadata, some of its keys, or none. */
  readonly metadata: "all" | readonly string[];
}

/**
 * Parses the paths of an update: `text`, `metadata`, `metadata.KEY`, `expire_time`, `ttl` or `event_time`. What
 * follows `metadata.` is one key, whatever characters it has.
 */
export function parseMask(paths: readonly string[]): Mask {
  expectAtMost(MASK_PATHS_MAX, "update_mask", paths, "paths");
  for (const path of paths) {
    if (!/^(text|metadata|metadata\..+|expire_time|ttl|event_time)$/su.test(path)) {
      const served = "text, metadata, metadata.KEY, expire_time, ttl and event_time";
      throw invalid(
        "update_mask",
        `has the path ${safeName(path)}; those that can be updated are ${served}`,
        `has another path than those that can be updated: ${served}`,
      );
    }
  }
  const keys = paths
    .filter((path) => path.startsWith(KEY_PREFIX))
    .map((path) => path.slice(KEY_PREFIX.length));
  return {
    text: paths.includes("text"),
    expiry: paths.includes("expire_time") || paths.includes("ttl"),
    eventTime: paths.includes("event_time"),
    metadata: paths.includes("metadata") ? "all" : keys,
  };
}

/** Makes metadata in which some keys are as in `given`: those that it lacks are removed. */
export function withKeys(old: JsonObject, given: JsonObject, keys: readonly string[]): JsonObject {
  const wanted = new Set(keys);
  const unchanged = Object.entries(old).filter(([key]) => !wanted.has(key));
  const set = Object.entries(given).filter(([key]) => wanted.has(key));
  // No key is assigned to an object, because one may be __proto__.
  return Object.fromEntries([...unchanged, ...set]);
}

/** Applies a JSON merge patch (RFC 7396): objects are merged at every depth, and null removes a key. */
export function merged(old: JsonObject, patch: JsonObject): JsonObject {
  const result = new Map(Object.entries(old));
  for (const [key, value] of Object.entries(patch)) {
    const before = result.get(key);
    if (value === null) result.delete(key);
    else if (isObject(value)) result.set(key, merged(isObject(before) ? before : {}, value));
    else result.set(key, value);
  }
  return Object.fromEntries(result);
}
