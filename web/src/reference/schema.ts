import { type Document, type Media, resolve, type Schema } from "./openapi";

const DEPTH_MAX = 4;

/** Row of a table of fields. */
export interface Field {
  /** Path of the field: `results[].score`. */
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
}

/** Lists a schema's fields. The fields of a nested object follow their parent. */
export function fieldsOf(document: Document, schema: Schema | undefined, prefix = "", depth = 0): Field[] {
  if (!schema || depth > DEPTH_MAX) return [];
  const { properties = {}, required = [] } = whole(document, schema);
  return Object.entries(properties).flatMap(([key, given]) => {
    const property = whole(document, given);
    const name = prefix + key;
    const list = property.items !== undefined;
    const field: Field = {
      name,
      type: typeOf(document, property),
      required: required.includes(key),
      description: given.description ?? property.description ?? "",
    };
    return [
      field,
      ...fieldsOf(document, list ? property.items : property, `${name}${list ? "[]" : ""}.`, depth + 1),
    ];
  });
}

/** Returns the document's own example, or makes one up from the schema. */
export function exampleOf(document: Document, media: Media | undefined): unknown {
  if (!media) return undefined;
  const [first] = Object.values(media.examples ?? {});
  return media.example ?? first?.value ?? made(document, media.schema);
}

function made(document: Document, schema: Schema | undefined, depth = 0): unknown {
  if (!schema || depth > DEPTH_MAX) return {};
  const full = whole(document, schema);
  const given = full.example ?? full.examples?.[0] ?? full.default ?? full.enum?.[0];
  if (given !== undefined) return given;
  if (full.items) return [made(document, full.items, depth + 1)];
  if (full.properties) {
    const entries = Object.entries(full.properties);
    return Object.fromEntries(entries.map(([key, property]) => [key, made(document, property, depth + 1)]));
  }
  return { integer: 1, number: 0.5, boolean: false, string: "" }[plainType(full)] ?? {};
}

/** Follows a schema's reference, and drops `null` from its types. */
function whole(document: Document, schema: Schema): Schema {
  const found = resolve(document, schema);
  const others = found.anyOf?.filter(({ type }) => type !== "null") ?? [];
  // A schema that allows null or one other type is shown as that type.
  if (found.anyOf?.length === 2 && others.length === 1) return whole(document, others[0] as Schema);
  return found;
}

function typeOf(document: Document, schema: Schema): string {
  const { items, format, enum: values } = schema;
  if (items) return `${typeOf(document, whole(document, items))}[]`;
  if (values) return values.map((value) => JSON.stringify(value)).join(" | ");
  const type = plainType(schema);
  return format && type === "string" ? `${type}, ${format}` : type;
}

function plainType({ type, properties }: Schema): string {
  if (Array.isArray(type)) return type.filter((name) => name !== "null")[0] ?? "any";
  if (typeof type === "string") return type;
  return properties ? "object" : "any";
}
