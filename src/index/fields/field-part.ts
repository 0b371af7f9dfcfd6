import { runToEnd } from "../../concurrency/time-slices.js";
import { asInputs, type FlatArrays, type MergeInput, type Overwritten } from "../flat.js";
import { countDown, forwardOf, type Inverted, mergeColumn, removeRow } from "../rows/inverted.js";
import type { Nodes } from "./keys.js";
import { mergeNodes } from "./merge.js";

/** Bytes of the objects of a part, without its arrays' elements. */
const PART_BYTES = 2_048;

/** The arrays of a part that merging reads. */
export interface FieldLists extends Nodes {
  /** Milliseconds since 1970. */
  readonly created: Float64Array;
  readonly updated: Float64Array;
  readonly events: Float64Array;
}

/** Everything that a part is. */
interface FieldArrays extends FieldLists, Inverted {}

/** The fields of a segment's memories: each path, its different values in order, and the rows of each. */
export class FieldPart {
  readonly arrays: FieldArrays;
  readonly bytes: number;

  /** @param arrays those of a part, as they were or read from files */
  constructor(arrays: FlatArrays) {
    this.arrays = arrays as FieldArrays;
    this.bytes = Object.values(arrays).reduce((sum, { byteLength }) => sum + byteLength, PART_BYTES);
  }

  /** Builds a part of a few rows at once. */
  static build(rows: readonly FieldLists[]): FieldPart {
    return runToEnd(mergeFields(asInputs(rows), rows.length));
  }

  /** Erases a row: its values' lists lose it, and values and paths that only it had are overwritten. */
  remove(row: number, overwritten: Overwritten): void {
    const { created, updated, events, parents, starts, keys } = this.arrays;
    const died = (node: number) => {
      const [from, to] = [starts[node] as number, starts[node + 1] as number];
      keys.fill(0, from, to);
      overwritten(keys, from, to);
      const parent = parents[node] as number;
      if (parent > 0) countDown(this.arrays, parent - 1, { overwritten, died });
    };
    removeRow(this.arrays, row, { overwritten, died });
    for (const times of [created, updated, events]) {
      times[row] = 0;
      overwritten(times, row, row + 1);
    }
  }
}

/** Merges parts. Rows may be removed from them while it waits; then they are to be removed from the result. */
export function* mergeFields(
  sources: readonly MergeInput<FieldLists>[],
  rows: number,
): Generator<void, FieldPart> {
  const nodes = yield* mergeNodes(sources);
  const forward = yield* forwardOf(nodes, rows);
  const created = yield* mergeColumn(sources, (part) => part.created, new Float64Array(rows));
  const updated = yield* mergeColumn(sources, (part) => part.updated, new Float64Array(rows));
  const events = yield* mergeColumn(sources, (part) => part.events, new Float64Array(rows));
  return new FieldPart({ ...nodes, ...forward, created, updated, events });
}
