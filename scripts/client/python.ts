import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescService,
  ScalarType,
} from "@bufbuild/protobuf";
import { REASONS } from "../../src/errors.js";
import { commentOf } from "../openapi/contract.js";
import { WRITES } from "../openapi/errors.js";
import { isAlwaysThere, isRequest, isRequired } from "../openapi/schemas.js";
import { CODES, contractTypes, unary } from "./types.js";

const HEAD = `"""Types of the contract. Generated from proto/ by scripts/generate-client.ts: \`npm run generate\`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Generic, Literal, TypeVar, Union

# Pydantic can only read these older versions' types from typing_extensions, and an alias of itself by its name.
if sys.version_info >= (3, 12):
    from typing import NotRequired, TypeAliasType, TypedDict
else:
    from typing_extensions import NotRequired, TypeAliasType, TypedDict

if TYPE_CHECKING:
    Json = Union[str, int, float, bool, None, Sequence["Json"], Mapping[str, "Json"]]
else:
    Json = TypeAliasType("Json", "Union[str, int, float, bool, None, Sequence[Json], Mapping[str, Json]]")
"""Any value that JSON has."""

Metadata = Mapping[str, Json]
"""Anything that is handed back with a memory."""


@dataclass(frozen=True, kw_only=True)
class Answered:
    """Fields that every answer has beside its own."""

    request_id: str = ""
    """Id of the call, also in the server's log."""

    replayed: bool = False
    """Whether an earlier attempt with the same idempotency key had done it already."""
`;

/** Types of scalars, and what an answer that leaves one out means. */
const SCALARS: Partial<Record<ScalarType, readonly [string, string]>> = {
  [ScalarType.STRING]: ["str", '""'],
  [ScalarType.BOOL]: ["bool", "False"],
  [ScalarType.INT32]: ["int", "0"],
  [ScalarType.UINT32]: ["int", "0"],
  [ScalarType.INT64]: ["int", "0"],
  [ScalarType.FLOAT]: ["float", "0.0"],
  [ScalarType.DOUBLE]: ["float", "0.0"],
};

/** Types of well-known messages: in requests, and in answers. */
const WELL_KNOWN: Readonly<Record<string, readonly [string, string]>> = {
  "google.protobuf.Timestamp": ["str | datetime", "str"],
  "google.protobuf.Duration": ["str | timedelta", "str"],
  "google.protobuf.FieldMask": ["str | Sequence[str]", "str"],
  "google.protobuf.Struct": ["Metadata", "Metadata"],
};

/** Writes _contract.py: requests are typed dictionaries, answers frozen dataclasses. */
export function pythonContract(service: DescService): string {
  const found = [...contractTypes(service).values()];
  const messages = found.filter((desc) => desc.kind === "message");
  const outputs = service.methods.map(({ output }) => output.name);
  const types = [
    ...found.filter((desc) => desc.kind === "enum").map(enumType),
    ...messages.map((desc) => (isRequest(desc) ? requestType(desc) : answerType(desc, outputs))),
  ];
  const names = ["Answered", "ErrorCode", "Json", "Metadata", "Reason", ...found.map(({ name }) => name)];
  return [HEAD, ...types, codes(), reasons(), parts(messages), methods(service), exported(names)].join(
    "\n\n",
  );
}

function enumType(choice: DescEnum): string {
  const values = choice.values.filter(({ number }) => number !== 0);
  const meanings = values.map((value) => `- \`${value.name}\`: ${commentOf(value)}`);
  const union = values.map(({ name }) => `"${name}"`).join(", ");
  return `${choice.name} = Literal[${union}]\n${docOf(`${commentOf(choice)}\n\n${meanings.join("\n")}`, "")}`;
}

function requestType(message: DescMessage): string {
  const fields = message.fields.map((each) => {
    const type = typeOf(each, true);
    // An absent field and None are the same in JSON: callers may pass either.
    const own = isRequired(each) ? type : `NotRequired[${type} | None]`;
    return `    ${each.name}: ${own}\n${docOf(commentOf(each), "    ")}`;
  });
  return `class ${message.name}(TypedDict):\n${docOf(commentOf(message), "    ", "\n")}${fields.join("\n")}`;
}

function answerType(message: DescMessage, outputs: readonly string[]): string {
  const base = outputs.includes(message.name) ? "(Answered)" : "";
  const fields = message.fields.map(
    (each) => `    ${each.name}: ${answerField(each)}\n${docOf(commentOf(each), "    ")}`,
  );
  const doc = docOf(commentOf(message), "    ", "\n");
  return `@dataclass(frozen=True, kw_only=True)\nclass ${message.name}${base}:\n${doc}${fields.join("\n")}`;
}

function answerField(field: DescField): string {
  const type = typeOf(field, false);
  if (!isAlwaysThere(field)) return `${type} | None = None`;
  if (field.fieldKind === "list") return `${type} = ()`;
  if (type === "Metadata") return `${type} = field(default_factory=dict[str, Json])`;
  // Protobuf's JSON may leave out what is empty.
  if (type === "str") return `${type} = ""`;
  const [, empty] = SCALARS[field.scalar as ScalarType] ?? [];
  return empty === undefined ? type : `${type} = ${empty}`;
}

function typeOf(field: DescField, asked: boolean): string {
  const element = elementType(field, asked);
  if (field.fieldKind !== "list") return element;
  return asked ? `Sequence[${element}]` : `tuple[${element}, ...]`;
}

function elementType({ message, enum: choice, scalar, name }: DescField, asked: boolean): string {
  if (message !== undefined) return WELL_KNOWN[message.typeName]?.[asked ? 0 : 1] ?? message.name;
  if (choice !== undefined) return choice.name;
  const [type] = SCALARS[scalar as ScalarType] ?? [];
  if (type === undefined) throw new Error(`the type of ${name} has no place in the client yet`);
  return type;
}

function exported(names: readonly string[]): string {
  const sorted = [...names].sort();
  return `__all__ = [\n${sorted.map((name) => `    "${name}",\n`).join("")}]\n`;
}

function codes(): string {
  const lines = CODES.map((name) => `    "${name}",\n`);
  return `ErrorCode = Literal[\n${lines.join("")}]\n"""Closed list of what can go wrong: that of the Connect protocol. docs/errors.md says what each means."""\n`;
}

function reasons(): string {
  const meanings = Object.entries(REASONS).map(([name, meaning]) => `    # ${meaning}\n    "${name}",\n`);
  return `Reason = Literal[\n${meanings.join("")}]\n"""Constants that programs can branch on. Servers may know further ones."""\n`;
}

/** Writes what a reader of answers must know: which fields are messages, and which numbers are strings in JSON. */
function parts(messages: readonly DescMessage[]): string {
  const answers = messages.filter((message) => !isRequest(message));
  const lines = answers.flatMap(({ name, fields }) => {
    const inner = fields.filter(({ message }) => message !== undefined && !(message.typeName in WELL_KNOWN));
    const named = inner.map((each) => `"${each.name}": ${(each.message as DescMessage).name}`);
    return named.length === 0 ? [] : [`    ${name}: {${named.join(", ")}},\n`];
  });
  const longs = answers
    .flatMap(({ fields }) => fields)
    .filter(({ scalar }) => scalar === ScalarType.INT64)
    .map(({ name }) => `"${name}"`);
  const doc = '"""Fields of answers that are messages themselves."""\n';
  const long = `LONG_FIELDS = frozenset({${[...new Set(longs)].join(", ")}})\n"""Fields that JSON gives as strings and the client as numbers."""\n`;
  return `PARTS: Mapping[type, Mapping[str, type]] = {\n${lines.join("")}}\n${doc}\n${long}`;
}

function methods(service: DescService): string {
  const head = `A = TypeVar("A", bound=Answered)


@dataclass(frozen=True)
class Method(Generic[A]):
    """One call of the service that has one answer."""

    name: str
    answer: type[A]
    writes: bool
    """Whether it changes something, so that it needs an idempotency key."""
`;
  const lines = unary(service).map(
    ({ name, output }) =>
      `${constantOf(name)} = Method("${name}", ${output.name}, ${WRITES.includes(name) ? "True" : "False"})\n`,
  );
  return `${head}\n\n${lines.join("")}`;
}

export const snake = (name: string) => name.replace(/(?<!^)(?=[A-Z])/g, "_").toLowerCase();
export const constantOf = (name: string) => snake(name).toUpperCase();

/** Writes a docstring; nothing if there is nothing to say. */
export function docOf(comment: string, indent: string, suffix = ""): string {
  const text = comment.trim().replaceAll("\\", "\\\\").replaceAll('"""', '\\"\\"\\"');
  if (text === "") return "";
  const lines = text.split("\n").map((line) => `${indent}${line}`.trimEnd());
  const closing = lines.length === 1 ? "" : `\n${indent}`;
  const quote = text.endsWith('"') && closing === "" ? ' """' : '"""';
  return `${indent}"""${lines.join("\n").trimStart()}${closing}${quote}\n${suffix}`;
}
