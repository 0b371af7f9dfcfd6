import { parseJson } from "../../parse-json.js";
import {
  CONTAINER,
  type Condition,
  type Field,
  type Order,
  type Test,
  type Value,
} from "../ports/condition.js";
import { eachValue, type Visit } from "./filter-path.js";
import { finderOf } from "./find-bytes.js";
import type { JsonObject } from "./metadata.js";

/** Code units from here to there stand in pairs for the code points above all others. */
const SURROGATES_FROM = 0xd800;
const SURROGATES_TO = 0xe000;

/** Fields of a memory that filters look at; `metadata` is JSON of an object. */
export interface Subject {
  readonly id: string;
  readonly metadata: string;
  readonly createdAtMs: number;
  /** Undefined if it was never updated. */
  readonly updatedAtMs?: number | undefined;
  /** Undefined if it happened when it was stored. */
  readonly eventAtMs?: number | undefined;
  readonly externalId?: string | undefined;
}

export function matches(condition: Condition, subject: Subject): boolean {
  let metadata: JsonObject | undefined;
  const parsed = () => (metadata ??= parseJson(subject.metadata) as JsonObject);
  const holds = (part: Condition): boolean => {
    if (part.kind === "not") return !holds(part.operand);
    if (part.kind !== "test")
      return part.kind === "all" ? part.operands.every(holds) : part.operands.some(holds);
    let isMatch = false;
    const passes = testerOf(part.test);
    eachOf(part.field, { subject, parsed }, (value, isElement) => {
      isMatch ||= passes(value, isElement);
    });
    return isMatch;
  };
  return holds(condition);
}

function eachOf(
  field: Field,
  { subject, parsed }: { subject: Subject; parsed: () => JsonObject },
  visit: Visit,
): void {
  if (field === "$id") visit(subject.id, false);
  else if (field === "$created_at") visit(subject.createdAtMs, false);
  else if (field === "$updated_at") visit(subject.updatedAtMs ?? subject.createdAtMs, false);
  else if (field === "$event_time") visit(subject.eventAtMs ?? subject.createdAtMs, false);
  else if (field !== "$external_id") eachValue(parsed(), field, visit);
  else if (subject.externalId !== undefined) visit(subject.externalId, false);
}

export function testerOf(test: Test): (value: Value, isElement: boolean) => boolean {
  if (test.op === "exists") return () => true;
  if (test.op === "in") return (value) => value !== CONTAINER && test.values.has(value);
  if (test.op === "prefix") return (value) => typeof value === "string" && value.startsWith(test.text);
  if (test.op === "contains") return containsTester(test.value);
  return orderTester(test);
}

function containsTester(sought: Value): (value: Value, isElement: boolean) => boolean {
  const find = typeof sought === "string" ? finderOf(Buffer.from(sought)) : undefined;
  return (value, isElement) => {
    if (isElement) return value === sought;
    return find !== undefined && typeof value === "string" && find(Buffer.from(value)) >= 0;
  };
}

function orderTester({ op, than }: { op: Order; than: string | number }): (value: Value) => boolean {
  if (typeof than === "number") {
    if (op === "gt") return (value) => typeof value === "number" && value > than;
    if (op === "gte") return (value) => typeof value === "number" && value >= than;
    if (op === "lt") return (value) => typeof value === "number" && value < than;
    return (value) => typeof value === "number" && value <= than;
  }
  if (op === "gt") return (value) => typeof value === "string" && compareText(value, than) > 0;
  if (op === "gte") return (value) => typeof value === "string" && compareText(value, than) >= 0;
  if (op === "lt") return (value) => typeof value === "string" && compareText(value, than) < 0;
  return (value) => typeof value === "string" && compareText(value, than) <= 0;
}

/** Compares texts by their code points, which is the order of their bytes in UTF-8 as well. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [left, right] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (left !== right) return rankOf(left) - rankOf(right);
  }
  return a.length - b.length;
}

/** Moves surrogates, which stand for code points above all others, behind the rest. */
function rankOf(unit: number): number {
  return unit >= SURROGATES_FROM && unit < SURROGATES_TO ? unit + SURROGATES_TO : unit;
}
