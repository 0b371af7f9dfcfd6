import type { Condition, Field, Order, Scalar, Test } from "../../../src/memory/ports/condition.js";
import type { Subject } from "../../../src/memory/requests/matches.js";
import type { Json, JsonObject } from "../../../src/memory/requests/metadata.js";
import type { Chance } from "../../support/chance.js";

const KEYS = [
  "a",
  "b",
  "a.b",
  "",
  "$a",
  "\\",
  "a\\.b",
  "__proto__",
  "é",
  "😀",
  "￿",
  "\u0000",
  "$external_id",
];
const TEXTS = [
  "",
  "a",
  "ab",
  "abc",
  "b",
  "B",
  "\u0000",
  "a\u0000",
  "\u007f",
  "ü",
  "😀",
  "😀a",
  "￿",
  "\ud7ff",
  "1",
];
const NUMBERS = [
  0,
  1,
  -1,
  1.5,
  2 ** 53,
  -(2 ** 60),
  1e308,
  -1e308,
  5e-324,
  -5e-324,
  0.1,
  -0.1,
  -0.1000000001,
  255,
  256,
];
const SCALARS: readonly Scalar[] = [...TEXTS, ...NUMBERS, true, false, null];
const ORDERS: readonly Order[] = ["gt", "gte", "lt", "lte"];
export const STARTED_MS = Date.parse("2026-01-01T00:00:00Z");

/** What only one memory has: a key, a text and a number. */
export const keyOnlyIn = (sequence: number) => `key-only-in-${sequence}.`;
export const textOnlyIn = (sequence: number) => `text only in ${sequence}.`;
export const numberOnlyIn = (sequence: number) => -sequence - 0.015625;
export const createdOf = (sequence: number) => STARTED_MS + sequence * 1_000;
export const externalIdOf = (sequence: number) => `external ${sequence}.`;

/** Makes a memory; some have what no other has. */
export function subjectOf(chance: Chance, sequence: number): Subject {
  const metadata = objectOf(chance, 0);
  if (chance.next() < 0.7) {
    put(metadata, keyOnlyIn(sequence), { deep: textOnlyIn(sequence) });
    put(metadata, "text", [textOnlyIn(sequence), chance.pick(TEXTS)]);
    put(metadata, "number", chance.pick<Json>([numberOnlyIn(sequence), [numberOnlyIn(sequence), 0]]));
  }
  return {
    id: `mem_${sequence}`,
    metadata: withNegativeZeros(JSON.stringify(metadata)),
    createdAtMs: createdOf(sequence),
    eventAtMs: chance.next() < 0.3 ? createdOf(sequence) - chance.pick([250, 1e11, 5e13]) : undefined,
    updatedAtMs: chance.next() < 0.3 ? createdOf(sequence) + 500 : undefined,
    externalId: chance.next() < 0.5 ? externalIdOf(sequence) : undefined,
  };
}

/** JavaScript writes no negative zero; other writers do. */
function withNegativeZeros(json: string): string {
  return json.replaceAll(":0,", ":-0,");
}

function objectOf(chance: Chance, depth: number): JsonObject {
  const object: JsonObject = {};
  for (let i = chance.below(5); i > 0; i--) put(object, chance.pick(KEYS), anyValue(chance, depth));
  return object;
}

/** Sets a member; an assignment to `__proto__` would set the prototype. */
function put(object: JsonObject, key: string, value: Json): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

function anyValue(chance: Chance, depth: number): Json {
  const kind = chance.next();
  if (kind < 0.25 && depth < 3) return objectOf(chance, depth + 1);
  if (kind < 0.5 && depth < 3) {
    return Array.from({ length: chance.below(4) }, () => anyValue(chance, depth + 1));
  }
  return chance.pick(SCALARS);
}

/** Makes a condition of any tests on any fields. */
export function conditionOf(chance: Chance, sequences: number, depth = 0): Condition {
  const kind = chance.next();
  if (depth < 3 && kind < 0.4) {
    const operands = Array.from({ length: 1 + chance.below(3) }, () =>
      conditionOf(chance, sequences, depth + 1),
    );
    return kind < 0.3
      ? { kind: kind < 0.15 ? "all" : "any", operands }
      : { kind: "not", operand: operands[0] as Condition };
  }
  const field = fieldOf(chance);
  if (field === "$id") return { kind: "test", field, test: idTestOf(chance, sequences) };
  if (field === "$created_at" || field === "$updated_at" || field === "$event_time") {
    return { kind: "test", field, test: timeTestOf(chance, sequences) };
  }
  return { kind: "test", field, test: testOf(chance, sequences) };
}

function fieldOf(chance: Chance): Field {
  const kind = chance.next();
  if (kind < 0.3) {
    return chance.pick<Field>([
      ...(["$id", "$created_at", "$updated_at", "$event_time", "$external_id"] as const),
      ...[["text"], ["number"]],
    ]);
  }
  return Array.from({ length: 1 + chance.below(2) }, () => chance.pick(KEYS));
}

function idTestOf(chance: Chance, sequences: number): Test {
  if (chance.next() < 0.1) return { op: "exists" };
  return { op: "in", values: new Set([`mem_${chance.below(sequences)}`, `mem_${chance.below(sequences)}`]) };
}

function timeTestOf(chance: Chance, sequences: number): Test {
  const time = () => createdOf(chance.below(sequences)) + chance.pick([0, 500, -250, -1e11]);
  if (chance.next() < 0.2) return { op: "in", values: new Set([time(), time()]) };
  return chance.next() < 0.1 ? { op: "exists" } : { op: chance.pick(ORDERS), than: time() };
}

function testOf(chance: Chance, sequences: number): Test {
  const some = chance.below(sequences);
  const text = () => chance.pick([...TEXTS, externalIdOf(some), textOnlyIn(some), "text only in 1", "9."]);
  const number = () => chance.pick([...NUMBERS, numberOnlyIn(some), -0]);
  const scalar = () => chance.pick<Scalar>([...SCALARS, text(), number()]);
  switch (chance.below(5)) {
    case 0:
      return { op: "exists" };
    case 1:
      return { op: "in", values: new Set(Array.from({ length: 1 + chance.below(3) }, scalar)) };
    case 2:
      return { op: chance.pick(ORDERS), than: chance.next() < 0.5 ? text() : number() };
    case 3:
      return { op: "prefix", text: text() };
    default:
      return { op: "contains", value: scalar() };
  }
}
