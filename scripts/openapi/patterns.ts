import type { DescField } from "@bufbuild/protobuf";
import { RecallResultSchema } from "../../gen/recalld/v1/memory_pb.js";

// Spelled out: `\s` and `\p{…}` mean something else in each language's expressions.
const CONTROL = "\\u0000-\\u001f\\u007f-\\u009f";
const SPACE = "\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff";

const NAMESPACE = `[^${CONTROL}${SPACE}]([^${CONTROL}]*[^${CONTROL}${SPACE}])?`;
const NOT_BLANK = `[^\\u0009-\\u000d${SPACE}]`;
const WORD = `[^@${CONTROL}${SPACE}]+`;
const TYPE_ID = "[0-7][0-9a-hjkmnp-tv-z]{25}";

/** Either form of a field's name: `created_?[aA]t`. */
const NAMES = RecallResultSchema.fields.map(({ name }) =>
  name.replace(/_(\w)/g, (_, letter: string) => `_?[${letter}${letter.toUpperCase()}]`),
);
const RESULT_FIELD = `(${NAMES.join("|")})`;

/** What the strings of requests must look like, where the contract's own options do not say it. */
const PATTERNS: Record<string, string> = {
  "StoreRequest.text": NOT_BLANK,
  "StoreItem.text": NOT_BLANK,
  "RecallRequest.query": NOT_BLANK,
  "RecallRequest.fields": `^${RESULT_FIELD}(,${RESULT_FIELD})*$`,
  "GetMemoryRequest.id": `^mem_${TYPE_ID}$`,
  "DeleteMemoryRequest.id": `^mem_${TYPE_ID}$`,
  "UpdateMemoryRequest.id": `^mem_${TYPE_ID}$`,
  "UpdateMemoryRequest.text": NOT_BLANK,
  "StoreRequest.external_id": `^[^${CONTROL}]*$`,
  "StoreItem.external_id": `^[^${CONTROL}]*$`,
  "DeleteNamespacesRequest.prefix": `^[^${CONTROL}]*$`,
  "ListNamespacesRequest.prefix": `^[^${CONTROL}]*$`,
  "SignUpRequest.email": `^(${WORD}@${WORD})?$`,
  "CreateKeyRequest.name": `^[^${CONTROL}]*$`,
  // Empty is all.
  "CreateKeyRequest.namespace": `^(${NAMESPACE})?$`,
};

/** What the strings in lists of requests must look like. */
const ELEMENTS: Record<string, string> = {
  "GetMemoriesRequest.ids": `^mem_${TYPE_ID}$`,
  "DeleteMemoriesRequest.ids": `^mem_${TYPE_ID}$`,
  "UpdateMemoriesRequest.ids": `^mem_${TYPE_ID}$`,
};

/** The pattern of the elements of a request's list, if they have one. */
export function elementPatternOf({ name, parent }: DescField): string | undefined {
  return ELEMENTS[`${parent.name}.${name}`];
}

/** The pattern of a request's field, if it has one. */
export function patternOf({ name, parent }: DescField): string | undefined {
  const own = PATTERNS[`${parent.name}.${name}`];
  if (own !== undefined || !parent.name.endsWith("Request")) return own;
  return name === "namespace" ? `^${NAMESPACE}$` : undefined;
}

const given = (field: string, schema: object) => ({ required: [field], properties: { [field]: schema } });
const REPLACES = given("replaces", { type: "string", minLength: 1 });
const LIKE_THE_OLD_KEY = {
  properties: {
    access: { enum: ["KEY_ACCESS_UNSPECIFIED", "KEY_ACCESS_FULL", null] },
    namespace: { enum: ["", null] },
  },
};
const DRY_RUN = given("dry_run", { const: true });
const IDS = given("ids", { type: "array", minItems: 1 });
const FILTER = given("filter", { type: "object" });
const NON_EMPTY_FILTER = given("filter", { type: "object", minProperties: 1 });

const all = (...schemas: object[]) => ({ allOf: schemas });
const no = (schema: object) => ({ not: schema });

/** A memory or a key expires at a time or after one. */
const TWO_EXPIRIES = all(given("expire_time", { type: "string" }), given("ttl", { type: "string" }));

/** Memories are meant by their ids or by a filter, and only the latter has a dry run. */
const NOT_IDS_OR_FILTER = [
  all(IDS, NON_EMPTY_FILTER),
  all(no(IDS), no(NON_EMPTY_FILTER)),
  all(DRY_RUN, no(FILTER)),
];

/**
 * What several fields of a request may not be together. Beside the properties stands nothing but a `not`, because
 * generators of clients make types of all else: oapi-codegen gave two of them one name, and refused the document.
 */
export const REFUSED: Record<string, readonly object[]> = {
  StoreRequest: [TWO_EXPIRIES],
  StoreItem: [TWO_EXPIRIES],
  UpdateMemoryRequest: [TWO_EXPIRIES],
  DeleteMemoriesRequest: NOT_IDS_OR_FILTER,
  UpdateMemoriesRequest: [
    ...NOT_IDS_OR_FILTER,
    all(
      no(given("metadata", { type: "object", minProperties: 1 })),
      no(given("remove", { type: "array", minItems: 1 })),
    ),
  ],
  CreateKeyRequest: [
    TWO_EXPIRIES,
    all(given("grace_seconds", { type: "integer" }), no(REPLACES)),
    all(REPLACES, no(LIKE_THE_OLD_KEY)),
  ],
};
