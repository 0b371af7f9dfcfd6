import {
  create,
  type DescEnum,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import {
  DurationSchema,
  FieldMaskSchema,
  StructSchema,
  TimestampSchema,
  timestampFromMs,
} from "@bufbuild/protobuf/wkt";
import { inTimeSlices, runToEnd } from "../concurrency/time-slices.js";
import { invalid, safeName } from "../errors.js";
import { isObject } from "../memory/requests/metadata.js";
import { expectWellFormed } from "../memory/requests/text.js";
import { parseInstant } from "../memory/requests/times.js";
import { suggestion } from "../suggest.js";
import { LONG_BYTES, parseInSteps, textOf } from "./json-text.js";

/** Form of JSON on every path: snake_case, with fields at their defaults; an unknown field is an error. */
export const JSON_OPTIONS = {
  useProtoFieldName: true,
  alwaysEmitImplicit: true,
  ignoreUnknownFields: false,
} as const;

/**
 * Messages that JSON writes as a string: their form, and how it is parsed; undefined if a string has another form. The
 * domain checks their limits, as for binary messages. Field masks have rules of their own: see `parseMask`.
 */
const STRING_FORMS: Readonly<
  Record<string, readonly [form: string, parse: (text: string) => Message | undefined]>
> = {
  [TimestampSchema.typeName]: ["a time like 2030-01-31T12:00:00Z (RFC 3339)", parseTimestamp],
  [DurationSchema.typeName]: ['a number of seconds like "3600s"', parseDuration],
};

/** Values of a message's fields, as `create` takes them. */
type Fields = Record<string, unknown>;

/** Fields of a patch that say how to update, so they are no part of its update mask. */
const PATCH_OPTIONS = ["etag", "on_secret"];

/** Resource that a request of the REST API is about. */
interface Resource {
  /** Fields that its path gives. Their names are single words, which are the same in every form. */
  readonly path: Readonly<Record<string, string>>;
  /** True if the body is a merge patch (RFC 7396): what it gives is updated, and what it gives as null is removed. */
  readonly isPatch: boolean;
}

/**
 * Decodes a JSON body; a long one step by step, so that other work runs in between. Protobuf's own decoder would let
 * pass, or report without naming the field: numbers in quotes, unknown fields, a field given twice, broken JSON and
 * bytes that are not UTF-8.
 *
 * @throws MemoryError `invalid_argument` that names the field.
 */
export function readJson(
  message: DescMessage,
  bytes: Uint8Array,
  resource?: Resource,
): Promise<Message> | Message {
  const work = parseJsonInSteps(message, bytes, resource);
  return bytes.length < LONG_BYTES ? runToEnd(work) : inTimeSlices(work);
}

function* parseJsonInSteps(
  message: DescMessage,
  bytes: Uint8Array,
  resource?: Resource,
): Generator<void, Message> {
  const { value, loss } = yield* parseInSteps(textOf(bytes));
  yield;
  const fields = yield* parseFields(message, value);
  if (loss !== undefined) throw loss;
  if (resource === undefined) return create(message, fields);
  const { path, isPatch } = resource;
  const given = Object.keys(value as object).map((key) => fieldOf(message, key)?.name ?? key);
  const refused = Object.keys(path);
  if (isPatch) refused.push("update_mask");
  const why = isPatch ? "is no part of a patch" : "stands in the path; leave it out of the body";
  for (const name of refused) if (given.includes(name)) throw invalid(name, why);
  Object.assign(fields, path);
  if (isPatch) fields.updateMask = { paths: given.filter((name) => !PATCH_OPTIONS.includes(name)) };
  return create(message, fields);
}

/** Decodes a tool's arguments, of which its schema tells a model. @throws MemoryError `invalid_argument`. */
export function readArguments(message: DescMessage, value: unknown): Message {
  return create(message, runToEnd(parseFields(message, value, "", [])));
}

/** Finds a field by its name in the contract, or by that of Protobuf's JSON. */
export function fieldOf(message: DescMessage, key: string): DescField | undefined {
  return message.fields.find(({ name, jsonName }) => key === name || key === jsonName);
}

/**
 * Checks and reads a message, and yields after each element of its lists. `path` is empty for the body, and
 * `memories[3]` for a part of it. An error about an unknown field names those of `listed`.
 */
function* parseFields(
  message: DescMessage,
  value: unknown,
  path = "",
  listed: readonly DescField[] = message.fields,
): Generator<void, Fields> {
  if (!isObject(value)) throw invalid(path || "body", `is ${kindOf(value)}; send a JSON object`);
  const fields: Fields = {};
  const seen = new Map<DescField, string>();
  for (const [key, inner] of Object.entries(value)) {
    const field = fieldOf(message, key);
    if (field === undefined) {
      const namesOf = (fields: readonly DescField[]) => fields.map(({ name }) => name);
      const list = listed.length > 0 ? `; its fields are ${namesOf(listed).join(", ")}` : "";
      const meant = suggestion(key, namesOf(message.fields)) || list;
      throw invalid(within(path, safeName(key)), `is not a field of ${message.name}${meant}`);
    }
    const name = within(path, field.name);
    if (seen.has(field)) throw invalid(name, `is given twice, as ${seen.get(field)} and ${key}`);
    seen.set(field, key);
    // null is Protobuf's way to leave a field out.
    if (inner === null) continue;
    const read =
      field.fieldKind === "list" ? yield* parseList(field, inner, name) : parseValue(field, inner, name);
    // Of a group, only one field may be given. An optional one is a group of its own, which it does not name.
    const { oneof } = field;
    if (oneof === undefined) {
      fields[field.localName] = read;
      continue;
    }
    const chosen = (fields[oneof.localName] as { readonly field: DescField } | undefined)?.field;
    if (chosen !== undefined)
      throw invalid(name, `is given beside ${within(path, chosen.name)}; give one of them`);
    fields[oneof.localName] = { case: field.localName, value: read, field };
  }
  return fields;
}

function* parseList(field: DescField, value: unknown, name: string): Generator<void, unknown[]> {
  if (!Array.isArray(value)) throw invalid(name, `is ${kindOf(value)}; send an array`);
  const read: unknown[] = [];
  for (const [i, each] of value.entries()) {
    read.push(parseValue(field, each, `${name}[${i}]`));
    yield;
  }
  return read;
}

/** Type of each scalar in JavaScript, and what to send; all others are whole numbers, whose limits the domain checks. */
const SCALARS: Partial<Record<ScalarType, readonly [type: string, what: string]>> = {
  [ScalarType.STRING]: ["string", "a string"],
  [ScalarType.BOOL]: ["boolean", "true or false"],
  [ScalarType.DOUBLE]: ["number", "a number"],
};

function parseValue({ message, scalar, enum: choice }: DescField, value: unknown, name: string): unknown {
  if (message !== undefined) return parseMessage(message, value, name);
  if (choice !== undefined) return parseEnum(choice, value, name);
  return parseScalar(scalar as ScalarType, value, name);
}

function parseScalar(scalar: ScalarType, value: unknown, name: string): unknown {
  const [type, what] = SCALARS[scalar] ?? ["number", "a whole number"];
  if (typeof value !== type) throw invalid(name, `is ${kindOf(value)}; send ${what}`);
  if (typeof value === "string") expectWellFormed(name, value);
  if (SCALARS[scalar] === undefined && !Number.isInteger(value))
    throw invalid(name, `is ${value}; send ${what}`);
  return value;
}

function parseMessage(message: DescMessage, value: unknown, name: string): unknown {
  if (message.typeName === FieldMaskSchema.typeName) return parseMask(value, name);
  const stringForm = STRING_FORMS[message.typeName];
  if (stringForm !== undefined) {
    const [form, parse] = stringForm;
    const parsed = parse(parseScalar(ScalarType.STRING, value, name) as string);
    if (parsed === undefined) throw invalid(name, `is not ${form}`);
    return parsed;
  }
  if (message.file.proto.package === "recalld.v1") return runToEnd(parseFields(message, value, name));
  if (!isObject(value)) throw invalid(name, `is ${kindOf(value)}; send a JSON object`);
  // A Struct is what its JSON is.
  return message.typeName === StructSchema.typeName ? value : fromJson(message, value as JsonObject);
}

/**
 * Reads a field mask. Protobuf's JSON has `"createdAt"` in it, which would spoil keys of metadata; this API's fields
 * are in snake_case elsewhere, so both are read.
 */
function parseMask(value: unknown, name: string): Fields {
  if (typeof value !== "string") throw invalid(name, `is ${kindOf(value)}; send names with commas between`);
  return { paths: value === "" ? [] : value.split(",").map(toSnakeCase) };
}

/** Writes a path's field name in snake_case. What follows a dot is a key of metadata, and stays. */
function toSnakeCase(path: string): string {
  const [first = "", ...rest] = path.split(".");
  return [first.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), ...rest].join(".");
}

function parseTimestamp(text: string): Message | undefined {
  const ms = parseInstant(text);
  return ms === undefined ? undefined : timestampFromMs(ms);
}

function parseDuration(text: string): Message | undefined {
  const [, sign, whole, fraction = ""] = /^(-?)(\d+)(?:\.(\d{1,9}))?s$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const factor = sign === "-" ? -1 : 1;
  return create(DurationSchema, {
    seconds: BigInt(factor * Math.min(Number(whole), Number.MAX_SAFE_INTEGER)),
    nanos: factor * Number(fraction.padEnd(9, "0")),
  });
}

function parseEnum(choice: DescEnum, value: unknown, name: string): number {
  const chosen = choice.values.find((each) => each.name === value);
  if (chosen !== undefined) return chosen.number;
  // The first one is "unspecified", which nobody means.
  const names = choice.values.slice(1).map((each) => each.name);
  if (typeof value !== "string") throw invalid(name, `is ${kindOf(value)}; send one of ${names.join(", ")}`);
  throw invalid(name, `is none of ${names.join(", ")}${suggestion(value, names)}`);
}

function within(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
