import {
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { invalid } from "../../errors.js";
import { checkNothingIsLost, shown } from "./json-text.js";

/** Maximum depth of a Struct. The room allows less; walking more would overflow the stack. */
const NESTING_MAX = 64;
const UTF8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Decodes a JSON body. Checks it first for what Protobuf's own JSON rules let pass or report without
 * naming the field: numbers in quotes, unknown fields, a field given twice, broken JSON and bytes that
 * are not UTF-8.
 *
 * @throws MemoryError `invalid_argument` that names the field.
 */
export function readJson(message: DescMessage, bytes: Uint8Array): Message {
  const text = decode(bytes);
  const value = parse(text);
  checkMessage(message, value);
  checkNothingIsLost(text);
  return decodeChecked(message, value);
}

function decodeChecked(message: DescMessage, value: JsonValue): Message {
  try {
    return fromJson(message, value);
  } catch (error) {
    throw ConnectError.from(error, Code.InvalidArgument);
  }
}

/** Decodes strictly: two names that differ in a broken byte would become one. */
function decode(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw invalid("body", "is not UTF-8");
  }
}

function parse(json: string): JsonValue {
  try {
    return JSON.parse(json);
  } catch {
    // The parser's own message quotes the text.
    throw invalid("body", json.trim() === "" ? "is empty; send a JSON object" : "is not valid JSON");
  }
}

function checkMessage(message: DescMessage, value: unknown): void {
  if (!isObject(value)) throw invalid("body", `is ${kindOf(value)}; send a JSON object`);
  const seen = new Map<DescField, string>();
  for (const [key, inner] of Object.entries(value)) {
    const field = message.fields.find(({ name, jsonName }) => key === name || key === jsonName);
    if (field === undefined) throw invalid(shown(key), `is not a field of ${message.name}`);
    if (seen.has(field)) throw invalid(field.name, `is given twice, as ${seen.get(field)} and ${key}`);
    seen.set(field, key);
    // null is Protobuf's way to leave a field out.
    if (inner !== null) checkField(field, inner);
  }
}

function checkField(field: DescField, value: unknown): void {
  if (field.fieldKind === "message") {
    if (!isObject(value)) throw invalid(field.name, `is ${kindOf(value)}; send a JSON object`);
    checkNesting(field.name, value, 1);
  } else if (field.fieldKind === "scalar" && field.scalar === ScalarType.STRING) {
    if (typeof value !== "string") throw invalid(field.name, `is ${kindOf(value)}; send a string`);
    // Decoding would refuse it as well, but not name the field.
    if (!value.isWellFormed()) throw invalid(field.name, "is not well-formed Unicode (a lone surrogate)");
  } else if (field.fieldKind === "scalar" && field.scalar === ScalarType.BOOL) {
    if (typeof value !== "boolean") throw invalid(field.name, `is ${kindOf(value)}; send true or false`);
  } else if (field.fieldKind === "enum") {
    if (typeof value !== "string") throw invalid(field.name, `is ${kindOf(value)}; send its name`);
    const names = field.enum.values.map(({ name }) => name);
    // Decoding would refuse it as well, but not name the field.
    if (!names.includes(value)) throw invalid(field.name, `is none of ${names.join(", ")}`);
  } else if (!(typeof value === "number" && isInt32(value))) {
    const what = typeof value === "number" ? String(value) : kindOf(value);
    throw invalid(field.name, `is ${what}; send a whole number`);
  }
}

function checkNesting(field: string, value: object, depth: number): void {
  if (depth > NESTING_MAX) throw invalid(field, `is more than ${NESTING_MAX} levels deep`);
  for (const inner of Object.values(value)) {
    if (typeof inner === "object" && inner !== null) checkNesting(field, inner, depth + 1);
  }
}

function isInt32(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 31;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
