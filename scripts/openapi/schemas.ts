import {
  type DescEnum,
  type DescField,
  type DescMessage,
  getExtension,
  hasExtension,
  ScalarType,
} from "@bufbuild/protobuf";
import {
  type FieldRules,
  field as rulesExtension,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { commentOf } from "./contract.js";
import { elementPatternOf, patternOf, REFUSED } from "./patterns.js";

export type Schema = Record<string, unknown>;

const SCALARS: Partial<Record<ScalarType, Schema>> = {
  [ScalarType.STRING]: { type: "string" },
  [ScalarType.BOOL]: { type: "boolean" },
  [ScalarType.INT32]: { type: "integer", format: "int32" },
  [ScalarType.UINT32]: { type: "integer", format: "uint32", minimum: 0 },
  // JSON's numbers are too short for it.
  [ScalarType.INT64]: { type: "string", format: "int64", pattern: "^[0-9]+$" },
  [ScalarType.FLOAT]: { type: "number", format: "float" },
  [ScalarType.DOUBLE]: { type: "number", format: "double" },
};

const WELL_KNOWN: Record<string, Schema> = {
  "google.protobuf.Timestamp": { type: "string", format: "date-time" },
  "google.protobuf.Duration": { type: "string", pattern: "^-?[0-9]+(\\.[0-9]{1,9})?s$" },
  "google.protobuf.FieldMask": { type: "string" },
  "google.protobuf.Struct": { type: "object", additionalProperties: true },
};

/** Fields of answers that are absent where there is nothing to say. */
const SOMETIMES = [
  ...["Key.last_used_at", "Key.expires_at", "Session.last_used_at", "Model.strong_score"],
  ...["RecallResult.words", "RecallResult.explanation"],
  ...["RecallResult.etag", "RecallResult.updated_at", "RecallResult.external_id"],
  ...["RecallResult.superseded_by", "RecallResult.expire_time", "RecallResult.event_time"],
  ...["RecallResult.query_index", "RecallResult.namespace", "RecallResult.before", "RecallResult.after"],
  ...["Memory.external_id", "Memory.superseded_by", "Memory.expire_time", "Memory.event_time"],
  ...["StoreResponse.outcome", "StoreResponse.etag", "StoreResponse.similar", "StoreResponse.unread_share"],
  ...["RecallResult.metadata", "RecallResult.created_at", "RecallResult.match"],
  ...["StoreBatchResult.stored", "StoreBatchResult.error", "StoredItem.outcome", "StoredItem.etag"],
  ...["StoredItem.unread_share"],
  ...["StoreResponse.redacted", "StoredItem.redacted", "UpdateMemoryResponse.redacted"],
  ...[
    "RecallResponse.considered",
    "RecallResponse.omitted",
    "RecallResponse.shortened",
    "Explanation.fit",
    "Explanation.recency",
    "GetNamespaceResponse.first",
    "GetNamespaceResponse.last",
  ],
  ...["DeleteMemoriesResponse.matched", "UpdateMemoriesResponse.matched", "DeleteNamespacesResponse.matched"],
];

/** The schemas of the messages and of all that they hold, by name. */
export function schemasOf(messages: readonly DescMessage[]): Record<string, Schema> {
  const schemas: Record<string, Schema> = {};
  const add = (message: DescMessage) => {
    if (message.name in schemas || message.typeName in WELL_KNOWN) return;
    schemas[message.name] = schemaOf(message);
    for (const { message: inner, enum: choice } of message.fields) {
      if (inner !== undefined) add(inner);
      if (choice !== undefined) schemas[choice.name] = enumSchema(choice);
    }
  };
  for (const message of messages) add(message);
  return schemas;
}

export function refTo(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

function schemaOf(message: DescMessage): Schema {
  return {
    ...(commentOf(message) !== "" && { description: commentOf(message) }),
    ...propertiesOf(message, message.fields),
  };
}

/** An object with some fields of a message. */
export function propertiesOf(message: DescMessage, fields: readonly DescField[]): Schema {
  const asked = isRequest(message);
  const required = fields.filter(asked ? isRequired : isAlwaysThere).map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field.name, property(field, asked)])),
    ...(required.length > 0 && { required }),
    // An unknown field is an error; answers may gain fields.
    ...(asked && { additionalProperties: false }),
    ...(message.name in REFUSED && { not: { anyOf: REFUSED[message.name] } }),
  };
}

/** True if callers write the message; else they read it. */
export function isRequest({ name }: DescMessage): boolean {
  return name.endsWith("Request") || ["StoreItem", "Recency", "Neighbors"].includes(name);
}

function property(field: DescField, asked: boolean): Schema {
  const schema = fieldSchema(field);
  return asked && !isRequired(field) ? orNull(schema) : schema;
}

/** `null` leaves a field out, where it may be left out. */
function orNull({ type, $ref, ...schema }: Schema): Schema {
  if ($ref !== undefined) return { anyOf: [{ $ref }, { type: "null" }], ...schema };
  return { type: [type, "null"], ...schema };
}

export function fieldSchema(field: DescField): Schema {
  const description = commentOf(field);
  return { ...typeOf(field), ...(description !== "" && { description }), ...limitsOf(field) };
}

function typeOf(field: DescField): Schema {
  if (field.fieldKind === "list") {
    const pattern = elementPatternOf(field);
    return { type: "array", items: { ...elementType(field), ...(pattern !== undefined && { pattern }) } };
  }
  return elementType(field);
}

function elementType({ message, enum: choice, scalar, name }: DescField): Schema {
  if (message !== undefined) return WELL_KNOWN[message.typeName] ?? refTo(message.name);
  if (choice !== undefined) return refTo(choice.name);
  const schema = SCALARS[scalar as ScalarType];
  if (schema === undefined) throw new Error(`the type of ${name} has no place in the reference yet`);
  return schema;
}

function enumSchema(choice: DescEnum): Schema {
  const named = choice.values.filter(({ number }) => number !== 0);
  const meanings = named.map((value) => `- \`${value.name}\`: ${commentOf(value)}`);
  return {
    type: "string",
    enum: choice.values.map(({ name }) => name),
    description: [commentOf(choice), meanings.join("\n")].join("\n\n"),
  };
}

/** The contract's limits. Those of strings count bytes, of which a character has one or more. */
function limitsOf(field: DescField): Schema {
  const { type, required } = rulesOf(field) ?? {};
  const limits: Schema = {};
  if (required === true && field.scalar === ScalarType.STRING) limits.minLength = 1;
  if (type?.case === "string" && type.value.maxBytes !== 0n) {
    limits.maxLength = Number(type.value.maxBytes);
    limits["x-max-bytes"] = Number(type.value.maxBytes);
  }
  if (type?.case === "repeated") {
    if (required === true) limits.minItems = 1;
    if (type.value.maxItems !== 0n) limits.maxItems = Number(type.value.maxItems);
  }
  const pattern = patternOf(field);
  if (pattern !== undefined) limits.pattern = pattern;
  if (type?.case === "int32" || type?.case === "double") {
    const { greaterThan, lessThan } = type.value;
    if (greaterThan.case === "gte") limits.minimum = greaterThan.value;
    if (lessThan.case === "lte") limits.maximum = lessThan.value;
  }
  return limits;
}

export function isRequired(field: DescField): boolean {
  return rulesOf(field)?.required === true;
}

/** Answers hold every field, but times that do not exist. */
export function isAlwaysThere({ name, parent }: DescField): boolean {
  return !SOMETIMES.includes(`${parent.name}.${name}`);
}

function rulesOf({ proto }: DescField): FieldRules | undefined {
  const { options } = proto;
  if (options === undefined || !hasExtension(options, rulesExtension)) return undefined;
  return getExtension(options, rulesExtension);
}
