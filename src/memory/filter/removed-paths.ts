import { invalid } from "../../errors.js";
import { isObject, type JsonObject } from "../requests/json-object.js";
import { METADATA_DEPTH_MAX } from "../requests/metadata.js";
import { keysOf } from "./path.js";

/** Maximum number of paths that one update removes. */
export const REMOVED_MAX = 256;
export const REMOVED_PATH_BYTES_MAX = 512;

/** Keys from the outermost object of metadata to what is removed. */
type Path = readonly string[];

/**
 * Parses the paths of metadata that an update removes, written as in filters: `a.b`, or `a\.b` for a key with a dot.
 *
 * @throws MemoryError `invalid_argument` naming `remove[3]`
 */
export function parseRemoved(paths: readonly string[]): readonly Path[] {
  if (paths.length > REMOVED_MAX) {
    throw invalid("remove", `has ${paths.length} paths; the limit is ${REMOVED_MAX}`);
  }
  return paths.map((path, i) => {
    const at = `remove[${i}]`;
    if (path === "") throw invalid(at, "is empty; it must be a path of metadata, such as a.b");
    if (Buffer.byteLength(path) > REMOVED_PATH_BYTES_MAX) {
      throw invalid(at, `is a path of more than ${REMOVED_PATH_BYTES_MAX} bytes`);
    }
    if (path.startsWith("$")) {
      throw invalid(at, "is no path of metadata; write a backslash before the dollar sign of a key");
    }
    const keys = keysOf(path);
    if (keys === undefined) {
      throw invalid(at, "has a backslash that is not followed by a dot, a dollar sign or a backslash");
    }
    if (keys.length > METADATA_DEPTH_MAX) {
      throw invalid(at, `is a path of more than ${METADATA_DEPTH_MAX} keys`);
    }
    return keys;
  });
}

/** Returns metadata without what is at some paths. Paths lead through objects, not through arrays. */
export function without(metadata: JsonObject, paths: readonly Path[]): JsonObject {
  return paths.reduce((rest, path) => withoutOne(rest, path), metadata);
}

function withoutOne(object: JsonObject, [key = "", ...inner]: Path): JsonObject {
  // No key is assigned to an object, because one may be __proto__.
  const entries = Object.entries(object).flatMap(([each, value]): [string, typeof value][] => {
    if (each !== key) return [[each, value]];
    if (inner.length === 0) return [];
    return [[each, isObject(value) ? withoutOne(value, inner) : value]];
  });
  return Object.fromEntries(entries);
}
