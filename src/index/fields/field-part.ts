import type { FlatArrays, MergeInput, Overwritten } from "../flat.js";
import { findPosting, removePosting, rowIn } from "../rows/postings.js";
import { mergeNodes } from "./merge.js";
import { isPath, type Nodes } from "./nodes.js";
import type { RowFields } from "./row-fields.js";

/** Bytes of the objects of a part, without its arrays' elements. */
const PART_BYTES = 2_048;
/** Rows or postings looked at before other work may run. */
const SLICE = 16_384;

/** Everything that a part is. */
interface FieldArrays extends Nodes {
  /** Where each row's list of values begins; one more for the end of the last. */
  readonly valueStarts: Uint32Array;
  /** For each row, one more than the nodes of its values; zeroed if it was removed. */
  readonly values: Uint32Array;
  /** Milliseconds since 1970. */
  readonly created: Float64Array;
  readonly updated: Float64Array;
  readonly events: Float64Array;
}

/** The fields of a segment's memories: each path, its different values in order, and the rows of each. */
export class FieldPart {
  readonly arrays: FieldArrays;
  readonly bytes: number;

  /** @param arrays those of a part, as they were or read from files */
  constructor(arrays: FlatArrays) {
    this.arrays = arrays as FieldArrays;
    this.bytes = Object.values(arrays).reduce((sum, { byteLength }) => sum + byteLength, PART_BYTES);
  }

  get rows(): number {
    return this.arrays.created.length;
  }

  /** Builds a part of a few rows at once. */
  static of(rows: readonly RowFields[]): FieldPart {
    const sources = rows.map((row, i) => ({ part: arraysOf(row), newRowOf: Int32Array.of(i) }));
    const work = build(sources, rows.length);
    for (;;) {
      const step = work.next();
      if (step.done) return step.value;
    }
  }

  /** Merges parts. Rows may be removed from them while it waits; then they are to be removed from the result. */
  static *merged(inputs: readonly MergeInput<FieldPart>[], rows: number): Generator<void, FieldPart> {
    const sources = inputs.map(({ part, newRowOf }) => ({ part: part.arrays, newRowOf }));
    return yield* build(sources, rows);
  }

  /** Erases a row: its values' lists lose it, and values and paths that only it had are overwritten. */
  remove(row: number, overwritten: Overwritten): void {
    const { valueStarts, values, created, updated, events } = this.arrays;
    const [from, to] = [valueStarts[row] as number, valueStarts[row + 1] as number];
    for (let i = from; i < to; i++) {
      const node = values[i] as number;
      if (node > 0) this.#removePosting(node - 1, { row, overwritten });
    }
    values.fill(0, from, to);
    overwritten(values, from, to);
    for (const times of [created, updated, events]) {
      times[row] = 0;
      overwritten(times, row, row + 1);
    }
  }

  #removePosting(node: number, { row, overwritten }: { row: number; overwritten: Overwritten }): void {
    const { postings, offsets } = this.arrays;
    const places = { from: offsets[node] as number, to: offsets[node + 1] as number };
    const { from, to } = removePosting(postings, findPosting(postings, row, places), places);
    overwritten(postings, from, to);
    this.#countDown(node, overwritten);
  }

  /** Counts one row or child of a node less. If none is left, the node dies: its key is overwritten. */
  #countDown(node: number, overwritten: Overwritten): void {
    const { counts, parents, starts, keys } = this.arrays;
    const left = (counts[node] as number) - 1;
    counts[node] = left;
    overwritten(counts, node, node + 1);
    if (left > 0) return;
    const [from, to] = [starts[node] as number, starts[node + 1] as number];
    keys.fill(0, from, to);
    overwritten(keys, from, to);
    const parent = parents[node] as number;
    if (parent > 0) this.#countDown(parent - 1, overwritten);
  }
}

type Source = Nodes & Pick<FieldArrays, "created" | "updated" | "events">;

/** Makes a tree of one row: each node has it, or one child at least. */
function arraysOf({ createdAtMs, updatedAtMs, eventAtMs, parents, starts, keys }: RowFields): Source {
  const counts = new Uint32Array(parents.length).fill(1);
  const offsets = new Uint32Array(parents.length + 1);
  for (let node = 0; node < parents.length; node++) {
    offsets[node + 1] = (offsets[node] as number) + (isPath({ keys, starts }, node) ? 0 : 1);
  }
  // Each value has the first row, and only that.
  const postings = new Uint32Array(offsets[parents.length] as number);
  const times = {
    created: Float64Array.of(createdAtMs),
    updated: Float64Array.of(updatedAtMs),
    events: Float64Array.of(eventAtMs),
  };
  return { parents, starts, keys, counts, offsets, postings, ...times };
}

function* build(sources: readonly MergeInput<Source>[], rows: number): Generator<void, FieldPart> {
  const nodes = yield* mergeNodes(sources);
  const lists = yield* valuesOfRows(nodes, rows);
  const created = yield* timesOf(sources, ({ created }) => created, rows);
  const updated = yield* timesOf(sources, ({ updated }) => updated, rows);
  const events = yield* timesOf(sources, ({ events }) => events, rows);
  return new FieldPart({ ...nodes, ...lists, created, updated, events });
}

/** Lists the values of each row. */
function* valuesOfRows(
  nodes: Nodes,
  rows: number,
): Generator<void, Pick<FieldArrays, "valueStarts" | "values">> {
  const { postings, offsets } = nodes;
  const valueStarts = new Uint32Array(rows + 1);
  for (let i = 0; i < postings.length; i++) {
    const row = rowIn(postings[i] as number);
    valueStarts[row + 1] = (valueStarts[row + 1] as number) + 1;
    if (i % SLICE === SLICE - 1) yield;
  }
  for (let row = 0; row < rows; row++) {
    valueStarts[row + 1] = (valueStarts[row + 1] as number) + (valueStarts[row] as number);
  }
  const values = new Uint32Array(postings.length);
  const next = valueStarts.slice();
  for (let node = 0, work = 0; node < offsets.length - 1; node++) {
    const [from, to] = [offsets[node] as number, offsets[node + 1] as number];
    for (let i = from; i < to; i++) {
      const row = rowIn(postings[i] as number);
      const at = next[row] as number;
      values[at] = node + 1;
      next[row] = at + 1;
    }
    work += 1 + to - from;
    if (work < SLICE) continue;
    work = 0;
    yield;
  }
  return { valueStarts, values };
}

function* timesOf(
  sources: readonly MergeInput<Source>[],
  columnOf: (part: Source) => Float64Array,
  rows: number,
): Generator<void, Float64Array> {
  const times = new Float64Array(rows);
  for (const { part, newRowOf } of sources) {
    const column = columnOf(part);
    for (let row = 0; row < column.length; row++) {
      const newRow = newRowOf[row] as number;
      if (newRow >= 0) times[newRow] = column[row] as number;
      if (row % SLICE === SLICE - 1) yield;
    }
  }
  return times;
}
