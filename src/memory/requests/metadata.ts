import { count, formatPath, invalid } from "../../errors.js";
import { parseJson } from "../../parse-json.js";
import { bytesOf, notWellFormed } from "./text.js";

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const METADATA_BYTES_MAX = 16_384;
export const METADATA_DEPTH_MAX = 16;

/**
 * Parses metadata into the text that is kept: JSON of an object, at most 16,384 bytes and 16 levels deep,
 * finite numbers (no negative zero), well-formed Unicode.
 */
export function parseMetadata(value: JsonObject | undefined): string {
  if (value === undefined) return "{}";
  // Checked before serialising: JSON.stringify would turn Infinity into null and follow any depth.
  check(value, ["metadata"]);
  const json = JSON.stringify(value);
  const bytes = bytesOf(json);
  if (bytes > METADATA_BYTES_MAX) {
    throw invalid("metadata", `is ${count(bytes)} bytes as JSON; the limit is ${count(METADATA_BYTES_MAX)}`);
  }
  return json;
}

/**
 * Makes equal texts of equal metadata, with keys in one order at every depth. Protobuf's maps and JSON's
 * objects have no order, so a client may send a request again in another order.
 */
export function canonicalMetadata(json: string): string {
  return JSON.stringify(sorted(parseJson(json) as Json));
}

function sorted(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => [key, sorted(inner)]);
  // No two keys are equal.
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** True if two metadata are equal but for the order of keys. */
export function isSame(a: Json, b: Json): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  const [ofA, ofB] = [a as JsonObject, b as JsonObject];
  return keys.every((key) => Object.hasOwn(ofB, key) && isSame(ofA[key] as Json, ofB[key] as Json));
}

/** Refuses what would not come back as it was sent, and names it by its path. */
function check(value: Json, path: (string | number)[]): void {
  if (typeof value === "number") checkNumber(value, path);
  if (typeof value === "string" && !value.isWellFormed()) throw notWellFormed(formatPath(path));
  if (typeof value !== "object" || value === null) return;
  if (path.length > METADATA_DEPTH_MAX) {
    throw invalid("metadata", `is more than ${METADATA_DEPTH_MAX} levels deep`);
  }
  for (const [key, inner] of Object.entries(value)) {
    path.push(Array.isArray(value) ? Number(key) : key);
    if (!key.isWellFormed()) throw notWellFormed(formatPath(path));
    check(inner, path);
    path.pop();
  }
}

/** Refuses numbers that would not come back: JSON writers such as JavaScript's drop the sign of a zero. */
function checkNumber(value: number, path: readonly (string | number)[]): void {
  if (!Number.isFinite(value)) throw invalid(formatPath(path), "is a number that is not finite");
  if (Object.is(value, -0)) throw invalid(formatPath(path), "is -0, which would come back as 0; send 0");
}
