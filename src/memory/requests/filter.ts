import { count, invalid } from "../../errors.js";
import { suggestion } from "../../suggest.js";
import type { Condition, Field, Filter, Order, Scalar, SystemField, Test } from "../ports/condition.js";
import { parsePath } from "./filter-path.js";
import { canonicalMetadata, isObject, type Json, type JsonObject } from "./metadata.js";
import { checkString } from "./text.js";
import { parseInstant } from "./times.js";

export const FILTER_BYTES_MAX = 65_536;
/** Levels of `$and`, `$or` and `$not`, the filter itself included. */
export const FILTER_DEPTH_MAX = 5;
/** Operators that test a field, in the whole filter. */
export const FILTER_CLAUSES_MAX = 200;
/** Values in the list of a `$in` or `$nin`. */
export const FILTER_LIST_MAX = 256;
/** Bytes of a text that a field is compared with. */
export const FILTER_STRING_BYTES_MAX = 4_096;

type FieldKind = "id" | "time" | "text" | "any";

const SYSTEM_FIELDS: Readonly<Record<SystemField, FieldKind>> = {
  $id: "id",
  $created_at: "time",
  $updated_at: "time",
  $event_time: "time",
  $external_id: "text",
};
const GROUPS: readonly string[] = ["$and", "$or", "$not"];
/** Operators of each kind of field. An id has no order that a caller should rely on. */
const EQUALITY: readonly string[] = ["$eq", "$ne", "$in", "$nin", "$exists", "$not"];
const ORDERS: readonly string[] = ["$gt", "$gte", "$lt", "$lte"];
const ALL = [...EQUALITY, ...ORDERS, "$prefix", "$contains"];
const OPERATORS = {
  id: EQUALITY,
  time: [...EQUALITY, ...ORDERS],
  text: ALL,
  any: ALL,
};
/** Characters of a caller's key that an error repeats. */
const QUOTED_CHARS_MAX = 64;

/**
 * Parses a filter; undefined if there is none, or an empty one, which every memory matches.
 *
 * @throws MemoryError `invalid_argument` that names the place in the filter.
 */
export function parseFilter(value: JsonObject | undefined): Filter | undefined {
  if (value === undefined || Object.keys(value).length === 0) return undefined;
  const condition = new Parser().filter(value, { at: "filter", depth: 1 });
  // Serialised only now, when nothing in it is deep.
  const json = JSON.stringify(value);
  const bytes = Buffer.byteLength(json);
  // Protobuf's maps have no order, so a client may send the same filter in another one.
  if (bytes <= FILTER_BYTES_MAX) return { condition, key: canonicalMetadata(json) };
  throw invalid("filter", `is ${count(bytes)} bytes as JSON; the limit is ${count(FILTER_BYTES_MAX)}`);
}

/** A place in a filter: how errors name it, and how deep it is. */
interface Spot {
  readonly at: string;
  readonly depth: number;
}

/** A field and how the filter writes it. */
interface Tested extends Spot {
  readonly field: Field;
}

class Parser {
  #clauses = 0;

  filter(value: Json | undefined, spot: Spot): Condition {
    checkDepth(spot);
    if (!isObject(value)) throw invalid(spot.at, "must be an object");
    const members = Object.entries(value);
    if (members.length === 0) throw invalid(spot.at, "is empty; it must have a condition");
    return all(members.map(([key, inner]) => this.#member(key, inner, spot)));
  }

  #member(key: string, value: Json, { at: outer, depth }: Spot): Condition {
    const at = `${outer}.${quoted(key)}`;
    const inner = { at, depth: depth + 1 };
    if (key === "$not") return { kind: "not", operand: this.filter(value, inner) };
    if (key === "$and") return { kind: "all", operands: this.#filters(value, inner) };
    if (key === "$or") return { kind: "any", operands: this.#filters(value, inner) };
    return this.#tests(value, { field: fieldOf(key, at), at, depth });
  }

  #filters(value: Json, { at, depth }: Spot): Condition[] {
    return listOf("filters", value, at).map((each, i) => this.filter(each, { at: `${at}[${i}]`, depth }));
  }

  /** Parses what a field must be: an object of operators, or a value that it must equal. */
  #tests(value: Json, tested: Tested): Condition {
    if (!isObject(value)) return this.#operator("$eq", value, { ...tested, value: tested.at });
    const members = Object.entries(value);
    if (members.length === 0) throw invalid(tested.at, "is an empty object; it must have an operator");
    return all(
      members.map(([operator, operand]) => {
        const at = `${tested.at}.${quoted(operator)}`;
        return this.#operator(operator, operand, { ...tested, value: at });
      }),
    );
  }

  /** Parses one operator; `value` names the place of its operand. */
  #operator(
    operator: string,
    operand: Json,
    { field, depth, value: at }: Tested & { value: string },
  ): Condition {
    const kind = kindOf(field);
    if (!OPERATORS[kind].includes(operator)) throw invalid(at, refusal(operator, field));
    if (operator === "$not") {
      const inner = { field, at, depth: depth + 1 };
      checkDepth(inner);
      return { kind: "not", operand: this.#tests(operand, inner) };
    }
    if (++this.#clauses > FILTER_CLAUSES_MAX) {
      throw invalid(at, `is one too many: a filter has at most ${FILTER_CLAUSES_MAX} tests`);
    }
    const test: Condition = { kind: "test", field, test: parseTest(operator, operand, { kind, at }) };
    const isNegated = ["$ne", "$nin"].includes(operator) || (operator === "$exists" && operand === false);
    return isNegated ? { kind: "not", operand: test } : test;
  }
}

function checkDepth({ at, depth }: Spot): void {
  if (depth <= FILTER_DEPTH_MAX) return;
  throw invalid(at, `is more than ${FILTER_DEPTH_MAX} levels deep ($and, $or and $not each make one)`);
}

function fieldOf(key: string, at: string): Field {
  if (Object.hasOwn(SYSTEM_FIELDS, key)) return key as SystemField;
  if (key.startsWith("$")) {
    const known = [...GROUPS, ...Object.keys(SYSTEM_FIELDS)];
    const meant = suggestion(key, known);
    throw invalid(
      at,
      `is none of ${known.join(", ")}; write a backslash before the dollar sign of a key${meant}`,
    );
  }
  return parsePath(at, key);
}

function refusal(operator: string, field: Field): string {
  const known = OPERATORS[kindOf(field)];
  const meant = suggestion(operator, known);
  if (typeof field === "string") return `is none of the operators of ${field}: ${known.join(", ")}${meant}`;
  if (operator.startsWith("$")) return `is none of the operators: ${known.join(", ")}${meant}`;
  return `is no operator; write the keys of an object with dots between them, such as "a.b"${meant}`;
}

function all(conditions: readonly Condition[]): Condition {
  return conditions.length === 1 ? (conditions[0] as Condition) : { kind: "all", operands: conditions };
}

/** Shortens a caller's key for an error, which travels in a header as well. */
function quoted(key: string): string {
  const whole = key.toWellFormed();
  return whole.length <= QUOTED_CHARS_MAX ? whole : `${whole.slice(0, QUOTED_CHARS_MAX).toWellFormed()}…`;
}

function kindOf(field: Field): FieldKind {
  return typeof field === "string" ? SYSTEM_FIELDS[field] : "any";
}

/** Parses what a field is compared with. The negations of two operators have the same. */
function parseTest(operator: string, operand: Json, { kind, at }: { kind: FieldKind; at: string }): Test {
  switch (operator) {
    case "$eq":
    case "$ne":
      return { op: "in", values: new Set([parseScalar(operand, kind, at)]) };
    case "$in":
    case "$nin":
      return { op: "in", values: parseList(operand, kind, at) };
    case "$prefix":
      return { op: "prefix", text: parseString(operand, at) };
    case "$contains":
      return { op: "contains", value: parseScalar(operand, kind, at) };
    case "$exists":
      if (typeof operand !== "boolean") throw invalid(at, "must be true or false");
      return { op: "exists" };
    default:
      return { op: operator.slice(1) as Order, than: parseOrdered(operand, kind, at) };
  }
}

/** Parses a value that a field of this kind can be equal to. `at` is where the filter has it. */
function parseScalar(value: Json | undefined, kind: FieldKind, at: string): Scalar {
  if (kind === "time") return parseTime(value, at);
  if (kind !== "any") return parseString(value, at);
  if (typeof value === "string") return parseString(value, at);
  if (typeof value === "number") return parseNumber(value, at);
  if (typeof value === "boolean" || value === null) return value;
  throw invalid(at, "is an array or an object; it must be a string, a number, true, false or null");
}

/** Parses a value that others can be less or greater than. */
function parseOrdered(value: Json | undefined, kind: FieldKind, at: string): string | number {
  if (kind === "time") return parseTime(value, at);
  if (kind === "any" && typeof value === "number") return parseNumber(value, at);
  if (typeof value === "string") return parseString(value, at);
  throw invalid(at, kind === "any" ? "must be a number or a string" : "must be a string");
}

function parseString(value: Json | undefined, at: string): string {
  if (typeof value !== "string") throw invalid(at, "must be a string");
  checkString(at, value, FILTER_STRING_BYTES_MAX);
  return value;
}

function parseList(value: Json | undefined, kind: FieldKind, at: string): Set<Scalar> {
  return new Set(listOf("values", value, at).map((each, i) => parseScalar(each, kind, `${at}[${i}]`)));
}

function listOf(what: "filters" | "values", value: Json | undefined, at: string): Json[] {
  if (!Array.isArray(value)) throw invalid(at, `must be an array of ${what}`);
  if (value.length > 0 && value.length <= FILTER_LIST_MAX) return value;
  throw invalid(at, `has ${count(value.length)} ${what}; it must have 1 to ${FILTER_LIST_MAX}`);
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
