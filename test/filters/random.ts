import type { Json, JsonObject } from "../../src/memory/requests/metadata.js";
import type { Chance } from "../support/chance.js";
import type { Example } from "./naive.js";

const KEYS = ["a", "b", "c.d", "__proto__"];
const SCALARS: readonly Json[] = [
  ...[0, 1, 2, -1.5, 2 ** 53, 1e300, 1e-300],
  ...["", "a", "ab", "abc", "b", "B", "😀", "￿", "\ud7ff", "1"],
  ...[true, false, null],
];
const STARTED_MS = Date.parse("2026-01-01T00:00:00Z");

const escaped = (key: string) => key.replaceAll(/[.\\]/g, "\\$&");

/** Makes metadata with few keys and values, so that filters often match. */
export function metadataOf(chance: Chance, depth = 0): JsonObject {
  const object: JsonObject = {};
  for (const key of KEYS) {
    if (chance.next() < 0.4) continue;
    const value = anyValue(chance, depth);
    put(object, key, value);
  }
  return object;
}

/** Sets a member; an assignment to `__proto__` would set the prototype. */
function put(object: JsonObject, key: string, value: Json): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

function anyValue(chance: Chance, depth: number): Json {
  const kind = chance.next();
  if (kind < 0.2 && depth < 3) return metadataOf(chance, depth + 1);
  if (kind < 0.4 && depth < 3) {
    return Array.from({ length: chance.below(3) }, () => anyValue(chance, depth + 1));
  }
  return chance.pick(SCALARS);
}

export function exampleOf(chance: Chance, number: number): Example {
  return {
    id: `mem_${number}`,
    metadata: metadataOf(chance),
    createdAtMs: STARTED_MS + chance.below(20) * 1000,
  };
}

/** Makes a filter of any operators that is within the limits. */
export function filterOf(chance: Chance, { memories = 20, depth = 1 } = {}): JsonObject {
  const filter: JsonObject = {};
  const inner = () => filterOf(chance, { memories, depth: depth + 1 });
  for (let i = 1 + chance.below(2); i > 0; i--) {
    const kind = chance.next();
    if (kind < 0.2 && depth < 4) filter.$and = [inner(), inner()];
    else if (kind < 0.4 && depth < 4) filter.$or = [inner(), inner()];
    else if (kind < 0.5 && depth < 4) filter.$not = inner();
    else if (kind < 0.55) filter.$id = { [chance.pick(["$eq", "$ne"])]: `mem_${chance.below(memories)}` };
    else if (kind < 0.6) filter.$created_at = timesOf(chance);
    else if (kind < 0.65) filter.$event_time = timesOf(chance);
    else if (kind < 0.7) filter.$external_id = { $exists: chance.next() < 0.5 };
    else put(filter, pathOf(chance), wantedOf(chance, depth));
  }
  return filter;
}

function pathOf(chance: Chance): string {
  return Array.from({ length: 1 + chance.below(3) }, () => escaped(chance.pick(KEYS))).join(".");
}

function timesOf(chance: Chance): JsonObject {
  const time = () => new Date(STARTED_MS + chance.below(20) * 1000).toISOString();
  if (chance.next() < 0.3) return { $in: [time(), time()] };
  return { [chance.pick(["$gt", "$gte", "$lt", "$lte", "$eq", "$ne"])]: time() };
}

function wantedOf(chance: Chance, depth: number): Json {
  if (chance.next() < 0.2) return chance.pick(SCALARS);
  const operators: JsonObject = {};
  for (let i = 1 + chance.below(2); i > 0; i--) {
    const operator = chance.pick(
      "$eq $ne $gt $gte $lt $lte $in $nin $exists $prefix $contains $not".split(" "),
    );
    operators[operator] = operandOf(chance, operator, depth);
  }
  return operators;
}

function operandOf(chance: Chance, operator: string, depth: number): Json {
  const strings = SCALARS.filter((each) => typeof each === "string");
  const numbers = SCALARS.filter((each) => typeof each === "number");
  if (operator === "$exists") return chance.next() < 0.5;
  if (operator === "$prefix") return chance.pick(strings);
  if (/^\$[gl]te?$/.test(operator)) return chance.pick([...strings, ...numbers]);
  if (operator === "$in" || operator === "$nin") {
    return Array.from({ length: 1 + chance.below(4) }, () => chance.pick(SCALARS));
  }
  if (operator !== "$not") return chance.pick(SCALARS);
  return depth < 4 ? wantedOf(chance, depth + 1) : 1;
}
