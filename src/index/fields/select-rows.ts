import type { Condition, Field, Order, Scalar, SystemField, Test } from "../../memory/ports/condition.js";
import { finderOf } from "../../memory/requests/find-bytes.js";
import { testerOf } from "../../memory/requests/matches.js";
import { Bits } from "../rows/bits.js";
import { isRemoved, rowIn } from "../rows/inverted.js";
import { lowerBound, type Range } from "../rows/lower-bound.js";
import { type Memories, rowOf } from "../rows/memories.js";
import type { FieldPart } from "./field-part.js";
import { ELEMENT, followedBy, KIND, keyOf, kindOf, type Nodes } from "./keys.js";
import { findNode, firstNode, nextLiving, type Skips } from "./nodes.js";
import { Selection } from "./selection.js";

/** Rows or values read before other work may run. */
const SLICE = 16_384;
/** Values that are looked for before other work may run. */
const SLICE_RANGES = 64;
/** Bytes of texts that are searched before other work may run. */
const SLICE_BYTES = 1 << 18;

/** The part of a segment that filters read. */
export interface FieldSegment extends Memories {
  readonly fields: FieldPart;
}

/** Log numbers of the memories that a filter names by id, of each version that may be among the rows. */
export type Ids = ReadonlyMap<unknown, readonly number[]>;

/** Adds the rows of a segment to a set that pass a test. */
type Find = (segment: FieldSegment, into: Bits) => Generator<void>;

/** A condition that is ready to be looked for in many segments. */
type Search = (segment: FieldSegment) => Generator<void, Bits>;

/** Selects the memories that match a condition and live when it returns. Rows may be removed while it waits. */
export function* selectRows(
  segments: readonly FieldSegment[],
  condition: Condition,
  ids: Ids,
): Generator<void, Selection> {
  const search = searchOf(condition, ids);
  const selected: { sequences: Float64Array; rows: Bits }[] = [];
  for (const segment of segments) {
    const rows = yield* search(segment);
    selected.push({ sequences: segment.sequences, rows });
  }
  for (const [i, { live }] of segments.entries()) selected[i]?.rows.intersect(live);
  return new Selection(selected);
}

function searchOf(condition: Condition, ids: Ids): Search {
  if (condition.kind === "test") {
    const find = findOf(condition, ids);
    return function* (segment) {
      const rows = new Bits(segment.sequences.length);
      yield* find(segment, rows);
      yield;
      return rows;
    };
  }
  if (condition.kind === "not") {
    const operand = searchOf(condition.operand, ids);
    return function* (segment) {
      const rows = yield* operand(segment);
      rows.invert();
      return rows;
    };
  }
  const isAll = condition.kind === "all";
  const operands = condition.operands.map((each) => searchOf(each, ids));
  return function* (segment) {
    const { length } = segment.sequences;
    const rows = isAll ? Bits.all(length) : new Bits(length);
    for (const operand of operands) {
      const others = yield* operand(segment);
      if (isAll) rows.intersect(others);
      else rows.join(others);
    }
    return rows;
  };
}

function findOf({ field, test }: { field: Field; test: Test }, ids: Ids): Find {
  if (field === "$external_id") return findValues([Uint8Array.of(KIND.externalId)], test);
  if (typeof field !== "string")
    return findValues(
      field.map((key) => keyOf(KIND.path, key)),
      test,
    );
  return field === "$id" ? findIds(test, ids) : findTimes(field, test);
}

/** Finds memories by the ids that a test lists. All have an id. */
function findIds(test: Test, ids: Ids): Find {
  const sought = test.op === "in" ? [...test.values].flatMap((id) => ids.get(id) ?? []) : [];
  return function* (segment, into) {
    if (test.op === "exists") into.invert();
    for (const [i, sequence] of sought.entries()) {
      if (i % SLICE_RANGES === SLICE_RANGES - 1) yield;
      const row = rowOf(segment, sequence);
      if (row >= 0) into.add(row);
    }
  };
}

/** Column of each time. */
const TIMES = { $created_at: "created", $updated_at: "updated", $event_time: "events" } as const;

function findTimes(field: Exclude<SystemField, "$id" | "$external_id">, test: Test): Find {
  const passes = testerOf(test);
  return function* ({ fields: { arrays } }, into) {
    const times = arrays[TIMES[field]];
    for (let row = 0; row < times.length; row++) {
      if (passes(times[row] as number, false)) into.add(row);
      if (row % SLICE === SLICE - 1) yield;
    }
  };
}

/** Finds the rows that have at a path a value which passes a test. */
function findValues(path: readonly Uint8Array[], test: Test): Find {
  return function* ({ fields: { arrays } }, into) {
    const values = childrenAt(arrays, path);
    if (values === undefined) return;
    const adding = { values, into, skips: new Map() };
    if (test.op === "in") yield* addListed(arrays, test.values, adding);
    else for (const range of rangesOf(test)) yield* addRange(arrays, range, adding);
  };
}

interface Adding {
  /** Nodes among which the values are. */
  readonly values: Range;
  readonly into: Bits;
  readonly skips: Skips;
}

/** Kinds that the values of a list may have at a path. */
const LISTED_KINDS = [false, true].flatMap((isElement) =>
  [null, 0, ""].map((value) => ({ kind: kindOf(value, isElement), isElement })),
);

/**
 * Adds the rows of the values in a list. Each key is made when it is looked for, because filters of tens of thousands of
 * values would fill the memory, and hold the thread, if all were made at once.
 */
function* addListed(nodes: Nodes, listed: ReadonlySet<Scalar>, adding: Adding): Generator<void> {
  const { values, into, skips } = adding;
  for (const { kind, isElement } of LISTED_KINDS) {
    let ofKind: Range | undefined;
    for (const value of listed) {
      if (kindOf(value, isElement) !== kind) continue;
      // To find one passes over dead nodes, of which there may be many.
      yield;
      ofKind ??= nodesOfKind(nodes, kind, values, skips);
      // Most paths have values of few kinds, so that most of a long list need not be looked for.
      if (ofKind.from === ofKind.to) break;
      const node = findNode(nodes, keyOf(kind, value), ofKind, skips);
      if (node !== undefined) yield* addRows(nodes, { from: node, to: node + 1 }, into);
    }
  }
}

/** Keys of values from one to before another. */
interface KeyRange {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
  /** Only texts with these bytes in them. */
  readonly containing?: Uint8Array;
}

/** Above all bytes of UTF-8. */
const ABOVE_TEXT = 0xff;

/** Lists the ranges of values that pass a test. They do not overlap. */
function rangesOf(test: Exclude<Test, { op: "in" }>): readonly KeyRange[] {
  if (test.op === "exists") return [{ from: Uint8Array.of(KIND.container), to: Uint8Array.of(KIND.path) }];
  if (test.op === "prefix") {
    return aloneOrElement(KIND.text, (kind) => {
      const from = keyOf(kind, test.text);
      return { from, to: followedBy(from, ABOVE_TEXT) };
    });
  }
  if (test.op !== "contains") {
    return aloneOrElement(kindOf(test.than, false), (kind) => ordered(test.op, keyOf(kind, test.than)));
  }
  const key = keyOf(kindOf(test.value, true), test.value);
  const element = { from: key, to: followedBy(key, 0) };
  if (typeof test.value !== "string") return [element];
  const texts = { from: Uint8Array.of(KIND.text), to: Uint8Array.of(KIND.text + ELEMENT) };
  const containing = key.subarray(1);
  return [containing.length === 0 ? texts : { ...texts, containing }, element];
}

function aloneOrElement(kind: number, range: (kind: number) => KeyRange): KeyRange[] {
  return [range(kind), range(kind + ELEMENT)];
}

/** Makes the range of the values of one kind that are in an order to another. */
function ordered(op: Order, key: Uint8Array): KeyRange {
  const kind = key[0] as number;
  if (op === "gt") return { from: followedBy(key, 0), to: Uint8Array.of(kind + 1) };
  if (op === "gte") return { from: key, to: Uint8Array.of(kind + 1) };
  return { from: Uint8Array.of(kind), to: op === "lt" ? key : followedBy(key, 0) };
}

/** Returns the nodes below a path: its values, and the paths that go on. Undefined if no row has the path. */
function childrenAt(nodes: Nodes, path: readonly Uint8Array[]): Range | undefined {
  let parent = 0;
  for (const key of path) {
    const node = findNode(nodes, key, childrenOf(nodes, parent));
    if (node === undefined) return undefined;
    parent = node + 1;
  }
  return childrenOf(nodes, parent);
}

function childrenOf({ parents }: Nodes, parent: number): Range {
  const from = lowerBound(parents, parent);
  return { from, to: lowerBound(parents, parent + 1, { from }) };
}

function nodesOfKind(nodes: Nodes, kind: number, values: Range, skips: Skips): Range {
  const from = firstNode(nodes, Uint8Array.of(kind), values, skips);
  return { from, to: firstNode(nodes, Uint8Array.of(kind + 1), { from, to: values.to }, skips) };
}

/** Adds the rows of the values in a range. */
function* addRange(nodes: Nodes, range: KeyRange, { values, into, skips }: Adding): Generator<void> {
  // To find one passes over dead nodes, of which there may be many.
  yield;
  const from = firstNode(nodes, range.from, values, skips);
  const to = firstNode(nodes, range.to, { from, to: values.to }, skips);
  if (range.containing === undefined) yield* addRows(nodes, { from, to }, into);
  else yield* addContaining(nodes, { from, to, text: range.containing }, into);
}

/** Adds the rows of some values. */
function* addRows({ offsets, postings }: Nodes, { from, to }: Range, { words }: Bits): Generator<void> {
  for (let node = from, work = 0; node < to; node++) {
    const [begin, end] = [offsets[node] as number, offsets[node + 1] as number];
    for (let i = begin; i < end; i++) {
      const posting = postings[i] as number;
      if (isRemoved(posting)) continue;
      const row = rowIn(posting);
      words[row >>> 5] = (words[row >>> 5] as number) | (1 << (row & 31));
    }
    work += 1 + end - begin;
    if (work < SLICE) continue;
    work = 0;
    yield;
  }
}

/** Adds the rows of the texts that have a text in them. */
function* addContaining(
  nodes: Nodes,
  { from, to, text }: Range & { text: Uint8Array },
  into: Bits,
): Generator<void> {
  const { counts, keys, starts } = nodes;
  const bytes = Buffer.from(keys.buffer, keys.byteOffset, keys.length);
  const find = finderOf(text);
  for (let first = from; first < to; ) {
    const end = Math.min(
      to,
      Math.max(first + 1, lowerBound(starts, (starts[first] as number) + SLICE_BYTES)),
    );
    const slice = bytes.subarray(starts[first], starts[end]);
    const begin = starts[first] as number;
    for (let at = find(slice); at >= 0; ) {
      const node = lowerBound(starts, begin + at + 1, { from: first, to: end }) - 1;
      // Zeros of erased texts are between others. Where one goes beyond its node, so do all behind it in the same node.
      const isWithin = begin + at + text.length <= (starts[node + 1] as number);
      if (isWithin) yield* addRows(nodes, { from: node, to: node + 1 }, into);
      at = find(slice, (starts[nextLiving(counts, node + 1, end)] as number) - begin);
    }
    yield;
    first = end;
  }
}
