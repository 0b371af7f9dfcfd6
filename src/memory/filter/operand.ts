import { invalid } from "../../errors.js";
import { count } from "../input/count.js";
import type { Json } from "../input/metadata.js";
import { FILTER_LIST_MAX, FILTER_STRING_BYTES_MAX } from "./bounds.js";
import type { Field, Scalar } from "./condition.js";
import { parseInstant } from "./instant.js";

/** Kind of values that a field has. */
export type FieldKind = "id" | "time" | "text" | "any";

export function kindOf(field: Field): FieldKind {
  if (field === "$id") return "id";
  if (field === "$external_id") return "text";
  return field === "$created_at" || field === "$updated_at" ? "time" : "any";
}

/** Parses a value that a field of this kind can be equal to. `at` is where the filter has it. */
export function parseScalar(value: Json | undefined, kind: FieldKind, at: string): Scalar {
  if (kind === "time") return parseTime(value, at);
  if (kind !== "any") return parseString(value, at);
  if (typeof value === "string") return parseString(value, at);
  if (typeof value === "number") return parseNumber(value, at);
  if (typeof value === "boolean" || value === null) return value;
  throw invalid(at, "is an array or an object; it must be a string, a number, true, false or null");
}

/** Parses a value that others can be less or greater than. */
export function parseOrdered(value: Json | undefined, kind: FieldKind, at: string): string | number {
  if (kind === "time") return parseTime(value, at);
  if (kind === "any" && typeof value === "number") return parseNumber(value, at);
  if (typeof value === "string") return parseString(value, at);
  throw invalid(at, kind === "any" ? "must be a number or a string" : "must be a string");
}

export function parseString(value: Json | undefined, at: string): string {
  if (typeof value !== "string") throw invalid(at, "must be a string");
  if (!value.isWellFormed()) throw invalid(at, "is not well-formed Unicode (a lone surrogate)");
  const bytes = Buffer.byteLength(value);
  if (bytes <= FILTER_STRING_BYTES_MAX) return value;
  throw invalid(at, `is ${count(bytes)} bytes; the limit is ${count(FILTER_STRING_BYTES_MAX)}`);
}

/** Parses the list of a `$in`. */
export function parseList(value: Json | undefined, kind: FieldKind, at: string): Set<Scalar> {
  if (!Array.isArray(value)) throw invalid(at, "must be an array");
  if (value.length === 0 || value.length > FILTER_LIST_MAX) {
    throw invalid(at, `has ${count(value.length)} values; it must have 1 to ${FILTER_LIST_MAX}`);
  }
  return new Set(value.map((each, i) => parseScalar(each, kind, `${at}[${i}]`)));
}

function parseNumber(value: number, at: string): number {
  if (Number.isFinite(value)) return value;
  throw invalid(at, "is a number that is not finite");
}

function parseTime(value: Json | undefined, at: string): number {
  const instant = typeof value === "string" ? parseInstant(value) : undefined;
  if (instant !== undefined) return instant;
  throw invalid(at, "must be a time of RFC 3339, such as 2026-01-31T09:30:00Z");
}
