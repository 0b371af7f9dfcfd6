import { CONTAINER, type Value } from "../ports/condition.js";
import { isObject, type Json, type JsonObject } from "../requests/json-object.js";

/**
 * Splits a path at its dots into keys; undefined if a backslash precedes anything but a dot, a dollar sign or
 * a backslash. A key with such a character is written with a backslash before it.
 */
export function keysOf(path: string): string[] | undefined {
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

/** Takes a value at a path, and whether it is an element of an array there. */
export type See = (value: Value, isElement: boolean) => void;

/**
 * Shows every value at a path. A key is looked up in an object, and in each object that is an element of an
 * array. An array at the end of the path shows itself and its elements.
 */
export function eachValue(metadata: JsonObject, keys: readonly string[], see: See): void {
  const follow = (value: Json | undefined, at: number) => {
    if (value === undefined) return;
    if (at === keys.length) return show(value, see);
    for (const object of objectsIn(value)) follow(memberOf(object, keys[at] as string), at + 1);
  };
  follow(metadata, 0);
}

/** Shows a value as it is at the end of a path. */
export function show(value: Json, see: See): void {
  see(outerOf(value), false);
  if (Array.isArray(value)) for (const element of value) see(outerOf(element), true);
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
