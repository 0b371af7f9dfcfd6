import type { Json, JsonObject } from "../../src/memory/requests/metadata.js";

/** A memory as tests write it. */
export interface Example {
  readonly id: string;
  readonly metadata: JsonObject;
  readonly createdAtMs: number;
}

/** Times that are those when the memory was stored: none has another. */
const TIMES = ["$created_at", "$updated_at", "$event_time"];

/** True if a memory matches a filter, by reading the filter's JSON literally: slow, and nothing is shared. */
export function naiveMatch(filter: JsonObject, memory: Example): boolean {
  return Object.entries(filter).every(([key, wanted]) => {
    if (key === "$and") return (wanted as JsonObject[]).every((each) => naiveMatch(each, memory));
    if (key === "$or") return (wanted as JsonObject[]).some((each) => naiveMatch(each, memory));
    if (key === "$not") return !naiveMatch(wanted as JsonObject, memory);
    return passesAll(valuesAt(key, memory), wanted, TIMES.includes(key));
  });
}

function passesAll(values: readonly Json[], wanted: Json, isTime: boolean): boolean {
  if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted)) {
    return passesAll(values, { $eq: wanted }, isTime);
  }
  return Object.entries(wanted).every(([operator, operand]) => passes(values, { operator, operand, isTime }));
}

function passes(
  values: readonly Json[],
  { operator, operand, isTime }: { operator: string; operand: Json; isTime: boolean },
): boolean {
  const all = values.flatMap((value) => (Array.isArray(value) ? [value, ...value] : [value]));
  const compared = isTime && typeof operand === "string" ? Date.parse(operand) : operand;
  const has = (one: Json) => all.some((each) => each === (isTime ? Date.parse(String(one)) : one));
  const orders = (holds: (order: number) => boolean) =>
    all.some((each) => typeof each === typeof compared && holds(order(each, compared)));
  switch (operator) {
    case "$eq":
      return has(operand);
    case "$ne":
      return !has(operand);
    case "$in":
      return (operand as Json[]).some(has);
    case "$nin":
      return !(operand as Json[]).some(has);
    case "$gt":
      return orders((o) => o > 0);
    case "$gte":
      return orders((o) => o >= 0);
    case "$lt":
      return orders((o) => o < 0);
    case "$lte":
      return orders((o) => o <= 0);
    case "$exists":
      return values.length > 0 === operand;
    case "$prefix":
      return all.some((each) => typeof each === "string" && each.indexOf(operand as string) === 0);
    case "$contains":
      return values.some((value) =>
        Array.isArray(value)
          ? value.includes(operand)
          : typeof value === "string" && typeof operand === "string" && value.includes(operand),
      );
    default:
      if (operator !== "$not") throw new Error(`no operator ${operator}`);
      return !passesAll(values, operand, isTime);
  }
}

/** Compares numbers, or strings by their bytes in UTF-8. */
function order(a: Json, b: Json): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}

function valuesAt(key: string, { id, metadata, createdAtMs }: Example): Json[] {
  if (key === "$id") return [id];
  if (TIMES.includes(key)) return [createdAtMs];
  if (key === "$external_id") return [];
  const keys = key.split(/(?<!\\)\./).map((each) => each.replaceAll(/\\(.)/g, "$1"));
  return keys.reduce<Json[]>(
    (values, each) =>
      values
        .flatMap((value) => (Array.isArray(value) ? value : [value]))
        .flatMap((value) => {
          const isPlain = typeof value === "object" && value !== null && !Array.isArray(value);
          return isPlain && Object.hasOwn(value, each) ? [value[each] as Json] : [];
        }),
    [metadata],
  );
}
