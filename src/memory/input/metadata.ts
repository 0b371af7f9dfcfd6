import { invalid } from "../../errors.js";
import { count } from "./count.js";

export const METADATA_BYTES_MAX = 16_384;
export const METADATA_DEPTH_MAX = 16;

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/**
 * Parses metadata into the text that is kept: JSON of an object, at most 16,384 bytes and 16 levels deep,
 * finite numbers (no negative zero), well-formed Unicode.
 */
export function parseMetadata(value: JsonObject | undefined, field = "metadata"): string {
  if (value === undefined) return "{}";
  // Checked before serialising: JSON.stringify would turn Infinity into null and follow any depth.
  const problem = problemOf(value, 1);
  if (problem !== undefined) throw invalid(field, problem);
  const json = JSON.stringify(value);
  const bytes = Buffer.byteLength(json);
  if (bytes > METADATA_BYTES_MAX) {
    throw invalid(field, `is ${count(bytes)} bytes as JSON; the limit is ${count(METADATA_BYTES_MAX)}`);
  }
  return json;
}

/**
 * Makes equal texts of equal metadata, with keys in one order at every depth. Protobuf's maps and JSON's
 * objects have no order, so a client may send a request again in another order.
 */
export function canonicalMetadata(json: string): string {
  return JSON.stringify(sorted(JSON.parse(json)));
}

function sorted(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => [key, sorted(inner)]);
  // No two keys are equal.
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Says what is wrong with a value; undefined if nothing is. */
function problemOf(value: Json, depth: number): string | undefined {
  if (typeof value === "number") return numberProblem(value);
  if (typeof value === "string") return stringProblem(value);
  if (typeof value !== "object" || value === null) return undefined;
  if (depth > METADATA_DEPTH_MAX) return `is more than ${METADATA_DEPTH_MAX} levels deep`;
  for (const [key, inner] of Object.entries(value)) {
    const problem = stringProblem(key) ?? problemOf(inner, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Refuses numbers that would not come back: JSON writers such as JavaScript's drop the sign of a zero. */
function numberProblem(value: number): string | undefined {
  if (!Number.isFinite(value)) return "has a number that is not finite";
  return Object.is(value, -0) ? "has the number -0, which would come back as 0; send 0" : undefined;
}

function stringProblem(value: string): string | undefined {
  return value.isWellFormed() ? undefined : "is not well-formed Unicode (a lone surrogate)";
}
