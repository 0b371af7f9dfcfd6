import { CONTAINER, type Value } from "../../memory/ports/condition.js";
import { objectsIn, visitValue } from "../../memory/requests/filter-path.js";
import { compareText, type Subject } from "../../memory/requests/matches.js";
import type { Json, JsonObject } from "../../memory/requests/metadata.js";
import { parseJson } from "../../parse-json.js";
import type { FieldLists } from "./field-part.js";
import { constantOf, KIND, kindOf, NodeWriter } from "./keys.js";

/** Flattens the fields of a memory, the keys of its objects and their values, as a part of one row. */
export function rowFieldsOf({
  metadata,
  externalId,
  createdAtMs,
  ...times
}: Omit<Subject, "id">): FieldLists {
  const nodes = new NodeWriter();
  const found: Found[] = [];
  addPaths(nodes, { parent: 0, objects: [parseJson(metadata) as JsonObject], found });
  if (externalId !== undefined) {
    found.push({ node: nodes.add(0, KIND.externalId, CONTAINER), values: [externalId] });
  }
  // What is found at a path is added behind all paths of its level, so that nodes are in the order of parents.
  for (const { node, values } of found) {
    const [value] = values;
    if (values.length === 1 && (typeof value !== "object" || value === null)) {
      nodes.add(node, kindOf(value as Value, false), value as Value);
    } else {
      addValues(nodes, node, values);
      addPaths(nodes, { parent: node, objects: values.flatMap(objectsIn), found });
    }
  }
  const { updatedAtMs = createdAtMs, eventAtMs = createdAtMs } = times;
  return {
    created: Float64Array.of(createdAtMs),
    updated: Float64Array.of(updatedAtMs),
    events: Float64Array.of(eventAtMs),
    ...nodes.finished(),
  };
}

/** A path of a memory, and its values there: several if objects in an array have it. */
interface Found {
  readonly node: number;
  readonly values: readonly Json[];
}

interface Below {
  readonly parent: number;
  readonly objects: readonly JsonObject[];
  readonly found: Found[];
}

/** Adds the keys of objects in order, and lists what is found at them. */
function addPaths(nodes: NodeWriter, { parent, objects, found }: Below): void {
  const valuesOf = new Map<string, Json[]>();
  for (const object of objects) {
    for (const key of Object.keys(object)) {
      const value = object[key] as Json;
      const values = valuesOf.get(key);
      if (values === undefined) valuesOf.set(key, [value]);
      else values.push(value);
    }
  }
  const keys = [...valuesOf.keys()];
  if (keys.length > 1) keys.sort(compareText);
  for (const key of keys) {
    found.push({ node: nodes.add(parent, KIND.path, key), values: valuesOf.get(key) as Json[] });
  }
}

/** Adds the values at a path in the order of their keys, each once. */
function addValues(nodes: NodeWriter, parent: number, values: readonly Json[]): void {
  const all: { readonly kind: number; readonly value: Value }[] = [];
  for (const each of values) {
    visitValue(each, (value, isElement) => all.push({ kind: kindOf(value, isElement), value }));
  }
  if (all.length > 1) all.sort((a, b) => a.kind - b.kind || compareValues(a.value, b.value));
  for (let i = 0; i < all.length; i++) {
    const { kind, value } = all[i] as (typeof all)[0];
    const before = i === 0 ? undefined : all[i - 1];
    if (before?.kind !== kind || before.value !== value) nodes.add(parent, kind, value);
  }
}

/** Compares values of one kind. */
function compareValues(a: Value, b: Value): number {
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  if (typeof a === "number" && typeof b === "number") return a - b;
  return constantOf(a) - constantOf(b);
}
