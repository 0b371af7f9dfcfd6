import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescService,
  ScalarType,
} from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { REASONS } from "../../src/errors.js";
import { commentOf, isHarmless, rpcPath } from "../openapi/contract.js";
import { WRITES } from "../openapi/errors.js";
import { isAlwaysThere, isRequest, isRequired } from "../openapi/schemas.js";

const HEAD = `// Generated from proto/ by scripts/generate-client.ts: \`npm run generate\`.

/** Any value that JSON has. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Anything that is handed back with a memory. */
export type Metadata = { readonly [key: string]: Json };
`;

const SCALARS: Partial<Record<ScalarType, string>> = {
  [ScalarType.STRING]: "string",
  [ScalarType.BOOL]: "boolean",
  [ScalarType.INT32]: "number",
  // Far below the 2 ** 53 to which a number counts exactly; the client turns JSON's string into one.
  [ScalarType.UINT32]: "number",
  [ScalarType.INT64]: "number",
  [ScalarType.FLOAT]: "number",
  [ScalarType.DOUBLE]: "number",
};

/** Types of well-known messages: in requests, and in answers. */
const WELL_KNOWN: Readonly<Record<string, readonly [string, string]>> = {
  "google.protobuf.Timestamp": ["string | Date", "string"],
  "google.protobuf.Duration": ["string", "string"],
  "google.protobuf.FieldMask": ["string | readonly string[]", "string"],
  "google.protobuf.Struct": ["Metadata", "Metadata"],
};

/** Messages that the client gives in another form, with the types of their fields. */
const STREAMED = ["WatchNamespaceResponse", "ExportMemoriesResponse"];

/** Calls of one service or of several. */
type Calls = Pick<DescService, "methods">;

/** Writes contract.ts: the types of the services as their JSON has them, in camelCase. */
export function contractModule(services: readonly DescService[]): string {
  const calls = { methods: services.flatMap(({ methods }) => methods) };
  const found = contractTypes(calls);
  const types = [...found.values()].map((desc) =>
    desc.kind === "message" ? messageType(desc) : enumType(desc),
  );
  const constants = [
    paths(calls),
    writes(),
    once(calls),
    codes(),
    reasons(),
    longFields(found),
    firstFields(calls),
  ];
  return inCamelCase([HEAD, ...types, methodsType(calls), ...constants].join("\n"), found);
}

/** Finds the messages and choices that calls take and give, by name. */
export function contractTypes({ methods }: Calls): Map<string, DescMessage | DescEnum> {
  const found = new Map<string, DescMessage | DescEnum>();
  for (const { input, output } of methods) {
    collect(input, found);
    if (!STREAMED.includes(output.name)) collect(output, found);
  }
  return found;
}

/** Writes the names of fields in comments as the client has them. */
function inCamelCase(text: string, found: ReadonlyMap<string, DescMessage | DescEnum>): string {
  const names = new Map(fieldsIn(found).map(({ name, jsonName }) => [name, jsonName]));
  return text.replace(/`([a-z]+(?:_[a-z]+)+)`/g, (_, name) => `\`${names.get(name) ?? name}\``);
}

function fieldsIn(found: ReadonlyMap<string, DescMessage | DescEnum>): DescField[] {
  return [...found.values()].flatMap((desc) => (desc.kind === "message" ? desc.fields : []));
}

function collect(message: DescMessage, found: Map<string, DescMessage | DescEnum>): void {
  if (found.has(message.name) || message.typeName in WELL_KNOWN) return;
  found.set(message.name, message);
  for (const { message: inner, enum: choice } of message.fields) {
    if (inner !== undefined) collect(inner, found);
    if (choice !== undefined) found.set(choice.name, choice);
  }
}

function messageType(message: DescMessage): string {
  const fields = message.fields.map((field) => property(field, isRequest(message)));
  return `${docOf(commentOf(message), "")}export interface ${message.name} {\n${fields.join("")}}\n`;
}

function property(field: DescField, asked: boolean): string {
  const required = asked ? isRequired(field) : isAlwaysThere(field);
  // An absent field and an undefined one are the same in JSON: callers may pass either.
  const type = `${typeOf(field, asked)}${asked && !required ? " | undefined" : ""}`;
  const name = `readonly ${field.jsonName}${required ? "" : "?"}`;
  return `${docOf(commentOf(field), "  ")}  ${name}: ${type};\n`;
}

function typeOf(field: DescField, asked: boolean): string {
  const element = elementType(field, asked);
  return field.fieldKind === "list" ? `readonly ${element}[]` : element;
}

function elementType({ message, enum: choice, scalar, name }: DescField, asked: boolean): string {
  if (message !== undefined) return WELL_KNOWN[message.typeName]?.[asked ? 0 : 1] ?? message.name;
  if (choice !== undefined) return choice.name;
  const type = SCALARS[scalar as ScalarType];
  if (type === undefined) throw new Error(`the type of ${name} has no place in the client yet`);
  return type;
}

function enumType(choice: DescEnum): string {
  const values = choice.values.filter(({ number }) => number !== 0);
  const meanings = values.map((value) => `- \`${value.name}\`: ${commentOf(value)}`);
  const union = values.map(({ name }) => `"${name}"`).join(" | ");
  return `${docOf([commentOf(choice), meanings.join("\n")].join("\n\n"), "")}export type ${choice.name} = ${union};\n`;
}

/** Writes the type that says what each call of one answer takes and gives. */
function methodsType(calls: Calls): string {
  const lines = unary(calls).map(
    ({ name, input, output }) =>
      `  readonly ${name}: { readonly input: ${input.name}; readonly output: ${output.name} };\n`,
  );
  return `/** The calls that have one answer. */\nexport interface Methods {\n${lines.join("")}}\n`;
}

/** Lists the calls that have one answer. */
export function unary({ methods }: Calls) {
  return methods.filter(({ methodKind }) => methodKind === "unary");
}

function paths(calls: Calls): string {
  const lines = unary(calls).map((method) => `  ${method.name}: "${rpcPath(method)}",\n`);
  return `/** Where each call is served, below the server's address. */\nexport const PATHS: Readonly<Record<keyof Methods, string>> = {\n${lines.join("")}};\n`;
}

/** Lists the calls that change an account: they take no idempotency key. */
function once(calls: Calls): string {
  const names = unary(calls)
    .filter((method) => method.parent.name === "AccountService" && !isHarmless(method))
    .map(({ name }) => `"${name}"`);
  return `/** Calls that change an account. They take no key, so an attempt whose answer is lost may have done it. */\nexport const ONCE: readonly string[] = [${names.join(", ")}];\n`;
}

function writes(): string {
  const names = WRITES.map((name) => `"${name}"`).join(", ");
  return `/** Calls that change something. Each has a key, so that no retry does it twice. */\nexport const WRITES: readonly string[] = [${names}];\n`;
}

/** Names of the codes of the Connect protocol, which are all that a call can end with. */
export const CODES: readonly string[] = Object.values(Code)
  .filter((code): code is Code => typeof code === "number")
  .map(codeToString);

function codes(): string {
  const lines = CODES.map((name) => `  "${name}",\n`);
  return `/** Closed list of what can go wrong: that of the Connect protocol. docs/errors.md says what each means. */\nexport const ERROR_CODES = [\n${lines.join("")}] as const;\n\nexport type ErrorCode = (typeof ERROR_CODES)[number];\n`;
}

function reasons(): string {
  const lines = Object.entries(REASONS).map(([name, meaning]) => `  /** ${meaning} */\n  | "${name}"\n`);
  return `/** Constants that programs can branch on. Servers may know further ones. */\nexport type Reason =\n${lines.join("").trimEnd()};\n`;
}

/** Writes the names of the fields whose numbers JSON gives as strings. */
function longFields(found: ReadonlyMap<string, DescMessage | DescEnum>): string {
  const names = fieldsIn(found)
    .filter(({ scalar }) => scalar === ScalarType.INT64)
    .map(({ jsonName }) => `"${jsonName}"`);
  return `/** Fields that JSON gives as strings and the client as numbers. */\nexport const LONG_FIELDS: readonly string[] = [${[...new Set(names)].join(", ")}];\n`;
}

/** Writes the first field of each answer: every version of the server has it, so an answer without it is another's. */
function firstFields(calls: Calls): string {
  const lines = unary(calls).map(({ name, output }) => {
    const [first] = output.fields as [DescField, ...DescField[]];
    const type = typeOf(first, false);
    const kind = first.fieldKind === "list" ? "list" : ["string", "number"].includes(type) ? type : "object";
    return `  ${name}: ["${first.jsonName}", "${kind}"],\n`;
  });
  return `/** The field that every answer of a call has, and what it is. */\nexport const FIRST_FIELDS: Readonly<Record<keyof Methods, readonly [field: string, kind: "string" | "number" | "list" | "object"]>> = {\n${lines.join("")}};\n`;
}

function docOf(comment: string, indent: string): string {
  if (comment.trim() === "") return "";
  const lines = comment
    .trim()
    .split("\n")
    .map((line) => `${indent} * ${line}`.trimEnd());
  return lines.length === 1
    ? `${indent}/** ${comment.trim()} */\n`
    : `${indent}/**\n${lines.join("\n")}\n${indent} */\n`;
}
