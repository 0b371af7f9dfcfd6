import {
  create,
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescOneof,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { DurationSchema, type FieldMask, FieldMaskSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { invalid } from "../../errors.js";
import { parseInstant } from "../../memory/requests/times.js";
import { suggestion } from "../../suggest.js";
import { checkNothingIsLost, isObject, shown, textOf } from "./json-text.js";

/** Maximum depth of a Struct. The domain allows less; walking more would overflow the stack. */
const NESTING_MAX = 64;

/** Forms of the messages that JSON writes as a string; field masks have rules of their own. */
const TEXTS: Readonly<Record<string, string>> = {
  [TimestampSchema.typeName]: "a time like 2030-01-31T12:00:00Z (RFC 3339)",
  [DurationSchema.typeName]: 'a number of seconds like "3600s"',
};

/**
 * Decodes a JSON body. Checks it first for what Protobuf's own JSON rules let pass or report without
 * naming the field: numbers in quotes, unknown fields, a field given twice, broken JSON and bytes that
 * are not UTF-8.
 *
 * @throws MemoryError `invalid_argument` that names the field.
 */
export function readJson(message: DescMessage, bytes: Uint8Array): Message {
  const steps = readingJson(message, bytes);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Decodes a JSON body like `readJson`, and yields where other work may run: each step takes long for megabytes. */
export function* readingJson(message: DescMessage, bytes: Uint8Array): Generator<undefined, Message> {
  const text = textOf(bytes);
  const value = parse(text);
  yield;
  checkMessage(message, value);
  yield;
  checkNothingIsLost(text);
  yield;
  return decodeChecked(message, value);
}

/** Fields of a patch that say how to update, and are no part of what is updated. */
const ABOUT_PATCHES = ["etag", "on_secret"];

/**
 * Decodes a JSON body into the request about a resource, whose path gives `fields`. A merge patch (RFC 7396) makes
 * the request that updates it: what the patch gives is updated, and what it gives as null is removed.
 *
 * @throws MemoryError `invalid_argument` that names the field.
 */
export function readResource(
  message: DescMessage,
  bytes: Uint8Array,
  { fields, isPatch }: { readonly fields: Readonly<Record<string, string>>; readonly isPatch: boolean },
): Message {
  const text = textOf(bytes);
  const value = parse(text);
  checkMessage(message, value);
  checkNothingIsLost(text);
  const given = Object.keys(value as object).map((key) => fieldOf(message, key)?.name ?? key);
  const beside = isPatch ? "is no part of a patch" : "stands in the path; leave it out of the body";
  for (const name of isPatch ? [...Object.keys(fields), "update_mask"] : Object.keys(fields)) {
    if (given.includes(name)) throw invalid(name, beside);
  }
  const mask = isPatch && { update_mask: given.filter((name) => !ABOUT_PATCHES.includes(name)).join(",") };
  return decodeChecked(message, { ...(value as JsonObject), ...fields, ...mask });
}

/** Decodes a value that was JSON, such as a tool's arguments. @throws MemoryError `invalid_argument`. */
export function readValue(message: DescMessage, value: unknown): Message {
  checkMessage(message, value);
  return decodeChecked(message, value as JsonObject);
}

function decodeChecked(message: DescMessage, value: JsonValue): Message {
  try {
    const { rest, setIn } = takeMasks(message, withoutNulls(message, value as JsonObject));
    const decoded = fromJson(message, rest);
    setIn(decoded);
    return decoded;
  } catch (error) {
    throw ConnectError.from(error, Code.InvalidArgument);
  }
}

/** Leaves out what is null in a group of which one may be given: Protobuf's decoder takes it for given. */
function withoutNulls(message: DescMessage, value: JsonObject): JsonObject {
  const bare = Object.entries(value).map(([key, inner]): [string, JsonValue | undefined] => {
    const field = fieldOf(message, key);
    if (inner === null) return [key, field?.oneof === undefined ? null : undefined];
    if (field?.fieldKind !== "list" || field.message === undefined || !isOurs(field.message))
      return [key, inner];
    const { message: each } = field;
    return [key, (inner as JsonObject[]).map((one) => withoutNulls(each, one))];
  });
  return Object.fromEntries(bare.filter((entry): entry is [string, JsonValue] => entry[1] !== undefined));
}

function fieldOf(message: DescMessage, key: string): DescField | undefined {
  return message.fields.find(({ name, jsonName }) => key === name || key === jsonName);
}

function parse(json: string): JsonValue {
  try {
    return JSON.parse(json);
  } catch {
    // The parser's own message quotes the text.
    throw invalid("body", json.trim() === "" ? "is empty; send a JSON object" : "is not valid JSON");
  }
}

/** Checks a message; `path` is empty for the body, and `memories[3]` for a part of it. */
function checkMessage(message: DescMessage, value: unknown, path = ""): void {
  if (!isObject(value)) throw invalid(path || "body", `is ${kindOf(value)}; send a JSON object`);
  const seen = new Map<DescField, string>();
  const chosen = new Map<DescOneof, string>();
  for (const [key, inner] of Object.entries(value)) {
    const field = fieldOf(message, key);
    if (field === undefined) {
      const meant = suggestion(
        key,
        message.fields.map(({ name }) => name),
      );
      throw invalid(within(path, shown(key)), `is not a field of ${message.name}${meant}`);
    }
    const name = within(path, field.name);
    if (seen.has(field)) throw invalid(name, `is given twice, as ${seen.get(field)} and ${key}`);
    seen.set(field, key);
    // null is Protobuf's way to leave a field out.
    if (inner === null) continue;
    checkField(field, inner, name);
    checkOneof(field, name, chosen);
  }
}

/** Refuses a second field of a group of which only one may be given. */
function checkOneof({ oneof }: DescField, name: string, chosen: Map<DescOneof, string>): void {
  // An optional field is a group of its own, which the field does not name.
  if (oneof === undefined) return;
  const other = chosen.get(oneof);
  if (other !== undefined) throw invalid(name, `is given beside ${other}; give one of them`);
  chosen.set(oneof, name);
}

function checkField(field: DescField, value: unknown, name: string): void {
  if (field.fieldKind !== "list") checkValue(field, value, name);
  else if (!Array.isArray(value)) throw invalid(name, `is ${kindOf(value)}; send an array`);
  else for (const [i, each] of value.entries()) checkValue(field, each, `${name}[${i}]`);
}

function checkValue(field: DescField, value: unknown, name: string): void {
  const { message, scalar, enum: choice } = field;
  if (isMask(field)) {
    if (typeof value !== "string") throw invalid(name, `is ${kindOf(value)}; send names with commas between`);
  } else if (message !== undefined && message.typeName in TEXTS) {
    checkText(message, value, name);
  } else if (message !== undefined && isOurs(message)) {
    checkMessage(message, value, name);
  } else if (message !== undefined) {
    if (!isObject(value)) throw invalid(name, `is ${kindOf(value)}; send a JSON object`);
    checkNesting(name, value, 1);
  } else if (choice !== undefined) {
    checkChoice(choice, value, name);
  } else if (scalar === ScalarType.STRING) {
    checkString(name, value);
  } else if (scalar === ScalarType.BOOL) {
    if (typeof value !== "boolean") throw invalid(name, `is ${kindOf(value)}; send true or false`);
  } else if (scalar === ScalarType.DOUBLE) {
    if (typeof value !== "number") throw invalid(name, `is ${kindOf(value)}; send a number`);
  } else if (!(typeof value === "number" && isInt32(value))) {
    const what = typeof value === "number" ? String(value) : kindOf(value);
    throw invalid(name, `is ${what}; send a whole number`);
  }
}

function checkString(name: string, value: unknown): asserts value is string {
  if (typeof value !== "string") throw invalid(name, `is ${kindOf(value)}; send a string`);
  // Decoding would refuse it as well, but not name the field.
  if (!value.isWellFormed()) throw invalid(name, "is not well-formed Unicode (a lone surrogate)");
}

/** Checks a message that JSON writes as a string. */
function checkText(message: DescMessage, value: unknown, name: string): void {
  checkString(name, value);
  try {
    fromJson(message, value);
  } catch {
    throw invalid(name, `is not ${TEXTS[message.typeName]}`);
  }
  // Protobuf's decoder takes 30 February for a day of March.
  if (message.typeName === TimestampSchema.typeName && parseInstant(value) === undefined)
    throw invalid(name, `is not ${TEXTS[message.typeName]}`);
}

function checkChoice(choice: DescEnum, value: unknown, name: string): void {
  if (typeof value !== "string") throw invalid(name, `is ${kindOf(value)}; send its name`);
  const names = choice.values.map(({ name }) => name);
  // Decoding would refuse it as well, but not name the field.
  if (names.includes(value)) return;
  // The first one is "unspecified", which nobody means.
  throw invalid(name, `is none of ${names.join(", ")}${suggestion(value, names.slice(1))}`);
}

/** True for a message of this contract, false for Protobuf's own, which JSON has a form of its own for. */
function isOurs({ file }: DescMessage): boolean {
  return file.proto.package === "recalld.v1";
}

function within(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
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

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function isMask({ message }: DescField): boolean {
  return message?.typeName === FieldMaskSchema.typeName;
}

/**
 * Takes the field masks out of a JSON request. Protobuf's JSON has `"createdAt"` in them, which would spoil keys
 * of metadata; this API's fields are in snake_case elsewhere, so both are read. The function that is answered
 * sets them in the message.
 */
function takeMasks(
  type: DescMessage,
  request: JsonObject,
): { rest: JsonObject; setIn(message: Message): void } {
  const masks = new Map<string, FieldMask>();
  const rest = { ...request };
  for (const field of type.fields.filter(isMask)) {
    for (const key of [field.name, field.jsonName]) {
      const mask = rest[key];
      if (typeof mask === "string")
        masks.set(field.localName, create(FieldMaskSchema, { paths: pathsOf(mask) }));
      delete rest[key];
    }
  }
  return { rest, setIn: (message) => Object.assign(message, Object.fromEntries(masks)) };
}

/** Writes a field's name as the contract does. What follows a dot is no field's name, and stays. */
function pathOf(path: string): string {
  const [first = "", ...rest] = path.split(".");
  return [first.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), ...rest].join(".");
}

function pathsOf(mask: string): string[] {
  if (mask === "") return [];
  return mask.split(",").map(pathOf);
}
