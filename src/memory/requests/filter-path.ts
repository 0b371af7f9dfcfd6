import { expectAtMost, invalid } from "../../errors.js";
import { CONTAINER, type Value } from "../ports/condition.js";
import { isObject, type Json, type JsonObject, METADATA_DEPTH_MAX } from "./metadata.js";
import { expectWellFormed } from "./text.js";

/** Bytes of a path. */
export const FILTER_PATH_BYTES_MAX = 512;

/**
 * Splits a path at its dots into keys; undefined if a backslash precedes anything but a dot, a dollar sign or
 * a backslash. A key with such a character is written with a backslash before it.
 */
function keysOf(path: string): string[] | undefined {
  const keys: string[] = [];
  let key = "";
  for (let i = 0; i < path.length; i++) {
    const char = path[i] as string;
    if (char === ".") {
      keys.push(key);
      key = "";
    } else if (char === "\\") {
      const next = path[++i];
      if (next === undefined || !"\\.$".includes(next)) return undefined;
      key += next;
    } else key += char;
  }
  return [...keys, key];
}

/** Parses a path of metadata into its keys. @throws MemoryError `invalid_argument` naming `at` */
export function parsePath(at: string, path: string): string[] {
  if (Buffer.byteLength(path) > FILTER_PATH_BYTES_MAX) {
    throw invalid(at, `is a path of more than ${FILTER_PATH_BYTES_MAX} bytes`);
  }
  expectWellFormed(at.toWellFormed(), path);
  const keys = keysOf(path);
  if (keys === undefined) {
    throw invalid(at, "has a backslash that is not followed by a dot, a dollar sign or a backslash");
  }
  if (keys.length > METADATA_DEPTH_MAX) {
    throw invalid(at, `is a path of more than ${METADATA_DEPTH_MAX} keys`);
  }
  return keys;
}

/** Parses a path like `parsePath`, where names such as `$id`, which filters have for the memory itself, are none. */
export function parseMetadataPath(at: string, path: string): string[] {
  if (!path.startsWith("$")) return parsePath(at, path);
  throw invalid(at, "is no path of metadata; write a backslash before the dollar sign of a key");
}

/** Receives a value at a path, and whether it is an element of an array there. */
export type Visit = (value: Value, isElement: boolean) => void;

/**
 * Visits every value at a path. A key is looked up in an object, and in each object that is an element of an
 * array. An array at the end of the path is visited itself, then its elements.
 */
export function eachValue(metadata: JsonObject, keys: readonly string[], visit: Visit): void {
  const follow = (value: Json | undefined, at: number) => {
    if (value === undefined) return;
    if (at === keys.length) return visitValue(value, visit);
    for (const object of objectsIn(value)) follow(memberOf(object, keys[at] as string), at + 1);
  };
  follow(metadata, 0);
}

/** Visits a value at the end of a path. */
export function visitValue(value: Json, visit: Visit): void {
  visit(outerOf(value), false);
  if (Array.isArray(value)) for (const element of value) visit(outerOf(element), true);
}

/** Lists the objects that the next key of a path is looked up in. */
export function objectsIn(value: Json): readonly JsonObject[] {
  return (Array.isArray(value) ? value : [value]).filter(isObject);
}

function memberOf(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function outerOf(value: Json): Value {
  return typeof value === "object" && value !== null ? CONTAINER : value;
}

/** Maximum number of paths that one update removes. */
export const REMOVED_MAX = 256;

/** Keys from the outermost object of metadata to what is removed. */
type Path = readonly string[];

/**
 * Parses the paths of metadata that an update removes, written as in filters: `a.b`, or `a\.b` for a key with a dot.
 *
 * @throws MemoryError `invalid_argument` naming `remove[3]`
 */
export function parseRemoved(paths: readonly string[]): readonly Path[] {
  expectAtMost(REMOVED_MAX, "remove", paths, "paths");
  return paths.map((path, i) => {
    const at = `remove[${i}]`;
    if (path === "") throw invalid(at, "is empty; it must be a path of metadata, such as a.b");
    return parseMetadataPath(at, path);
  });
}

/** Returns metadata without what is at some paths. Paths lead through objects, not through arrays. */
export function without(metadata: JsonObject, paths: readonly Path[]): JsonObject {
  if (paths.length === 0) return metadata;
  // In one go: each path alone would copy all other keys.
  const byKey = new Map<string, Path[]>();
  for (const [key = "", ...inner] of paths) {
    const inside = byKey.get(key);
    if (inside) inside.push(inner);
    else byKey.set(key, [inner]);
  }
  // No key is assigned to an object, because one may be __proto__.
  const entries = Object.entries(metadata).flatMap(([key, value]): [string, typeof value][] => {
    const inside = byKey.get(key) ?? [];
    if (inside.some((inner) => inner.length === 0)) return [];
    return [[key, inside.length > 0 && isObject(value) ? without(value, inside) : value]];
  });
  return Object.fromEntries(entries);
}
