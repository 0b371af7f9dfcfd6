import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import type { Chance } from "./chance.js";

/** Values that fit few fields, as JSON has them. */
const ODD = [
  ..."null true 0 -0 -1 1.5 7 1e400 12345678901234567890 2147483648 1e21".split(" "),
  ...['""', '" "', '"5"', '"a\\u0000b"', '"\\ud800"', '"é\\u2028🐈"', '"__proto__"', `"${"x".repeat(300)}"`],
  ...["[]", "{}", "[null]", '{"a":1}', '{"a":1,"a":2}', '{"__proto__":{"a":1}}', '[["a"]]', '{"$gte":1}'],
  ...['{"seconds":1}', '"2030-02-30T00:00:00Z"', '"1s"', '"-1s"', '"a,b"', '"updatedAt,id"'],
];
const TIMES = ['"2030-01-31T12:00:00Z"', '"2001-01-31T12:00:00.5+01:00"', '"9999-12-31T23:59:59.999999999Z"'];
const NAMES = ['"parity"', '"parity/2"', '"none"'];
const ID = '"mem_01h455vb4pex5vsknk084sn02q"';

/** Makes the JSON of a request, most fields of which are as they should be. */
export function randomRequest(chance: Chance, message: DescMessage): string {
  if (chance.below(40) === 0)
    return chance.pick(["", "{", "[]", "null", '"a"', "{}{}", '{"a":1,}', "\ufeff{}"]);
  return objectOf(chance, message);
}

function objectOf(chance: Chance, message: DescMessage): string {
  const members: string[] = [];
  for (const field of message.fields) {
    if (chance.below(10) >= (field.name === "namespace" || field.name === "text" ? 9 : 3)) continue;
    const name = chance.below(6) === 0 ? field.jsonName : field.name;
    members.push(`${JSON.stringify(name)}:${fieldOf(chance, field)}`);
    if (chance.below(60) === 0) members.push(`${JSON.stringify(field.name)}:${fieldOf(chance, field)}`);
  }
  if (chance.below(30) === 0) members.push(`${chance.pick(['"nothing"', '"toString"', '"a.b"'])}:1`);
  return `{${members.join(",")}}`;
}

function fieldOf(chance: Chance, field: DescField): string {
  if (chance.below(8) === 0) return chance.pick(ODD);
  if (field.fieldKind !== "list") return oneOf(chance, field);
  return `[${Array.from({ length: chance.below(4) }, () => oneOf(chance, field)).join(",")}]`;
}

function oneOf(chance: Chance, { name, scalar, enum: choice, message }: DescField): string {
  if (choice !== undefined) return JSON.stringify(chance.pick(choice.values).name);
  if (message !== undefined) return messageOf(chance, message);
  if (scalar === ScalarType.BOOL) return chance.pick(["true", "false"]);
  if (scalar === ScalarType.DOUBLE) return chance.pick(["0", "0.5", "1", "-0", "1e-9"]);
  if (scalar !== ScalarType.STRING) return chance.pick(["1", "5", "0", "20"]);
  if (name === "namespace" || name === "also_in" || name === "prefix") return chance.pick(NAMES);
  if (/(^|_)ids?$|supersedes/.test(name)) return ID;
  return chance.pick(['"tea"', '"Ana drinks tea."', '""', '"a.b"', '"code"']);
}

function messageOf(chance: Chance, message: DescMessage): string {
  switch (message.typeName) {
    case "google.protobuf.Timestamp":
      return chance.pick(TIMES);
    case "google.protobuf.Duration":
      return chance.pick(['"60s"', '"0.5s"', '"315576000000s"']);
    case "google.protobuf.FieldMask":
      return chance.pick(['"id,score"', '"text"', '"metadata.a_b"', '"expireTime"', '""']);
    case "google.protobuf.Struct":
      return chance.pick([
        '{"a":1}',
        "{}",
        '{"a":{"$in":[1,"b"]}}',
        '{"n":9007199254740993}',
        '{"a":{"b":[null]}}',
      ]);
    default:
      return objectOf(chance, message);
  }
}
