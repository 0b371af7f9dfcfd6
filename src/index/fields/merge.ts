import type { Flat, MergeInput } from "../flat.js";
import { isRemoved, postingOf, rowIn } from "../rows/postings.js";
import { Cursors } from "./cursors.js";
import { isPath, type Nodes } from "./nodes.js";

/** Postings, and as many bytes of nodes, that are merged before other work may run. */
const SLICE = 16_384;
/** About how many postings could be copied in the time that a node takes. */
const NODE_WORK = 16;
/** Bytes that are copied before other work may run. */
const SLICE_BYTES = 1 << 20;
/** A key is copied byte by byte if it is shorter: a view of it costs more. */
const SHORT_KEY = 48;

/**
 * Merges trees into one. Rows may be removed from them while it waits: a node and its rows are copied at once, so
 * that no key comes without a row, and paths without values are erased at the end.
 */
export function* mergeNodes(inputs: readonly MergeInput<Nodes>[]): Generator<void, Nodes> {
  const merged = new Merged(inputs.map(({ part }) => part));
  const cursors = new Cursors(inputs.map(({ part }) => part));
  const taken: number[] = [];
  for (let work = 0; cursors.takeLeast(taken); ) {
    const first = taken[0] as number;
    const { part } = inputs[first] as MergeInput<Nodes>;
    const node = cursors.nodeOf(first);
    const [bytes, postings] = [merged.keysEnd, merged.postingsEnd];
    if (isPath(part, node)) merged.addNode(part, node, cursors.parentOf(first));
    else {
      for (const tree of taken) merged.addRows(inputs[tree] as MergeInput<Nodes>, cursors.nodeOf(tree));
      merged.addValue(part, node, { parent: cursors.parentOf(first), from: postings });
    }
    cursors.advance(taken, merged.size);
    work += NODE_WORK * taken.length + merged.keysEnd - bytes + merged.postingsEnd - postings;
    if (work < SLICE) continue;
    work = 0;
    yield;
    cursors.renew();
  }
  yield* merged.eraseDead();
  return yield* merged.finished();
}

/** A tree that grows node by node. Its arrays are as long as those of all trees that are merged. */
class Merged {
  size = 0;
  keysEnd = 0;
  postingsEnd = 0;
  readonly #parents: Uint32Array;
  readonly #starts: Uint32Array;
  readonly #keys: Uint8Array;
  readonly #counts: Uint32Array;
  readonly #offsets: Uint32Array;
  readonly #postings: Uint32Array;

  constructor(trees: readonly Nodes[]) {
    const sum = (lengthOf: (tree: Nodes) => number) => trees.reduce((all, tree) => all + lengthOf(tree), 0);
    const nodes = sum(({ parents }) => parents.length);
    this.#parents = new Uint32Array(nodes);
    this.#starts = new Uint32Array(nodes + 1);
    this.#keys = new Uint8Array(sum(({ keys }) => keys.length));
    this.#counts = new Uint32Array(nodes);
    this.#offsets = new Uint32Array(nodes + 1);
    this.#postings = new Uint32Array(sum(({ postings }) => postings.length));
  }

  /** Adds the rows of a value that is added next. */
  addRows({ part, newRowOf }: MergeInput<Nodes>, node: number): void {
    const [from, to] = [part.offsets[node] as number, part.offsets[node + 1] as number];
    const { postings } = part;
    const into = this.#postings;
    let end = this.postingsEnd;
    for (let i = from; i < to; i++) {
      const posting = postings[i] as number;
      const row = isRemoved(posting) ? -1 : (newRowOf[rowIn(posting)] as number);
      if (row >= 0) into[end++] = postingOf(row, 0);
    }
    this.postingsEnd = end;
  }

  /** Adds a value whose rows were added from a place on; leaves it out if there are none. */
  addValue(tree: Nodes, node: number, { parent, from }: { parent: number; from: number }): void {
    const count = this.postingsEnd - from;
    if (count === 0) return;
    sortRows(this.#postings, from, this.postingsEnd);
    this.#counts[this.size] = count;
    this.addNode(tree, node, parent);
  }

  /** Adds a node with its key. */
  addNode({ keys, starts }: Nodes, node: number, parent: number): void {
    this.#parents[this.size] = parent;
    if (parent > 0) this.#counts[parent - 1] = (this.#counts[parent - 1] as number) + 1;
    const [from, to] = [starts[node] as number, starts[node + 1] as number];
    const into = this.#keys;
    if (to - from > SHORT_KEY) into.set(keys.subarray(from, to), this.keysEnd);
    else for (let i = from; i < to; i++) into[this.keysEnd + i - from] = keys[i] as number;
    this.keysEnd += to - from;
    this.#starts[++this.size] = this.keysEnd;
    this.#offsets[this.size] = this.postingsEnd;
  }

  /** Erases paths whose values were all left out. */
  *eraseDead(): Generator<void> {
    for (let node = this.size - 1; node >= 0; node--) {
      if (node % SLICE === 0) yield;
      if (this.#counts[node] !== 0) continue;
      this.#keys.fill(0, this.#starts[node], this.#starts[node + 1]);
      const parent = this.#parents[node] as number;
      if (parent > 0) this.#counts[parent - 1] = (this.#counts[parent - 1] as number) - 1;
    }
  }

  *finished(): Generator<void, Nodes> {
    const parents = yield* cut(this.#parents, this.size);
    const starts = yield* cut(this.#starts, this.size + 1);
    const keys = yield* cut(this.#keys, this.keysEnd);
    const counts = yield* cut(this.#counts, this.size);
    const offsets = yield* cut(this.#offsets, this.size + 1);
    const postings = yield* cut(this.#postings, this.postingsEnd);
    return { parents, starts, keys, counts, offsets, postings };
  }
}

/** Sorts rows if they are not in order: those of trees that are merged may lie between each other. */
function sortRows(rows: Uint32Array, from: number, to: number): void {
  for (let i = from + 1; i < to; i++) {
    if ((rows[i] as number) < (rows[i - 1] as number)) {
      rows.subarray(from, to).sort();
      return;
    }
  }
}

/** Copies the beginning of an array, so that the rest of its memory is free. */
function* cut<T extends Flat>(array: T, length: number): Generator<void, T> {
  if (length === array.length) return array;
  const shorter = new (array.constructor as new (length: number) => T)(length);
  const slice = SLICE_BYTES / array.BYTES_PER_ELEMENT;
  for (let from = 0; from < length; from += slice) {
    shorter.set(array.subarray(from, Math.min(length, from + slice)), from);
    yield;
  }
  return shorter;
}
