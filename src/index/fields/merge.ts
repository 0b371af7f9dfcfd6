import type { MergeInput } from "../flat.js";
import { cut, MergedLists } from "../rows/inverted.js";
import { isPath, type Nodes } from "./keys.js";
import { compareKeys, nextLiving } from "./nodes.js";

/** Postings, and as many bytes of nodes, that are merged before other work may run. */
const SLICE = 16_384;
/** About how many postings could be copied in the time that a node takes. */
const NODE_WORK = 16;
/** A key is copied byte by byte if it is shorter: a view of it costs more. */
const SHORT_KEY = 48;
/** Bytes of a key that are compared at once, and the two times that this is done before all bytes are. */
const PREFIX_BYTES = 6;
const PREFIXES_BYTES = 2 * PREFIX_BYTES;

/**
 * Merges trees into one. Rows may be removed from them while it waits: a node and its rows are copied at once, so
 * that no key comes without a row, and paths without values are erased at the end.
 */
export function* mergeNodes(inputs: readonly MergeInput<Nodes>[]): Generator<void, Nodes> {
  const trees = inputs.map(({ part }) => part);
  const cursors = new Cursors(trees);
  // The arrays are as long as those of all trees, and are cut at the end.
  const into = new MergedLists(trees);
  const { counts } = into;
  const parents = new Uint32Array(counts.length);
  const starts = new Uint32Array(counts.length + 1);
  const keys = new Uint8Array(trees.reduce((sum, tree) => sum + tree.keys.length, 0));
  let keysEnd = 0;
  const addNode = (tree: Nodes, node: number, parent: number) => {
    parents[into.size] = parent;
    if (parent > 0) counts[parent - 1] = (counts[parent - 1] as number) + 1;
    into.endTerm();
    const [from, to] = [tree.starts[node] as number, tree.starts[node + 1] as number];
    if (to - from > SHORT_KEY) keys.set(tree.keys.subarray(from, to), keysEnd);
    else for (let i = from; i < to; i++) keys[keysEnd + i - from] = tree.keys[i] as number;
    keysEnd += to - from;
    starts[into.size] = keysEnd;
  };
  const taken: number[] = [];
  for (let work = 0; cursors.takeLeast(taken); ) {
    const first = taken[0] as number;
    const [tree, node] = [trees[first] as Nodes, cursors.at[first] as number];
    const before = keysEnd + into.end;
    for (const i of taken) into.append(inputs[i] as MergeInput<Nodes>, cursors.at[i] as number);
    // A value without rows is left out.
    if (!into.isEmpty || isPath(tree, node)) addNode(tree, node, cursors.parentOf(first));
    cursors.advance(taken, into.size);
    work += NODE_WORK * taken.length + keysEnd + into.end - before;
    if (work < SLICE) continue;
    work = 0;
    yield;
    cursors.renew();
  }
  // Paths whose values were all left out are erased.
  for (let node = into.size - 1; node >= 0; node--) {
    if (node % SLICE === 0) yield;
    if (counts[node] !== 0) continue;
    keys.fill(0, starts[node], starts[node + 1]);
    const parent = parents[node] as number;
    if (parent > 0) counts[parent - 1] = (counts[parent - 1] as number) - 1;
  }
  return {
    parents: yield* cut(parents, into.size),
    starts: yield* cut(starts, into.size + 1),
    keys: yield* cut(keys, keysEnd),
    ...(yield* into.finished()),
  };
}

/** Trees that are merged, each at one of its nodes. The least of these nodes comes first: they are in a heap. */
class Cursors {
  /** For each tree, the new numbers of its paths, as `parents` has them: one more, and 0 at the top. */
  readonly #renumbered: readonly Uint32Array[];
  /** Node that each tree is at. */
  readonly at: Uint32Array;
  /** New parent of the node that each tree is at, the beginning of its key as two numbers, and the key's length. */
  readonly #parents: Uint32Array;
  readonly #firsts: Float64Array;
  readonly #seconds: Float64Array;
  readonly #lengths: Uint32Array;
  readonly #heap: Uint32Array;
  #size = 0;

  constructor(private readonly trees: readonly Nodes[]) {
    this.#renumbered = trees.map(({ parents }) => new Uint32Array(parents.length + 1));
    this.at = new Uint32Array(trees.length);
    this.#parents = new Uint32Array(trees.length);
    this.#firsts = new Float64Array(trees.length);
    this.#seconds = new Float64Array(trees.length);
    this.#lengths = new Uint32Array(trees.length);
    this.#heap = new Uint32Array(trees.length);
    this.renew();
  }

  /** Looks at all trees again, after nodes may have died. */
  renew(): void {
    this.#size = 0;
    for (let tree = 0; tree < this.trees.length; tree++) this.#enter(tree);
  }

  /** Takes the trees that are at the least node out of the heap, in order; false if all trees are at their ends. */
  takeLeast(taken: number[]): boolean {
    taken.length = 0;
    if (this.#size === 0) return false;
    const first = this.#pop();
    taken.push(first);
    while (this.#size > 0 && this.#compare(this.#heap[0] as number, first) === 0) taken.push(this.#pop());
    return true;
  }

  /** New parent of the node that a tree is at. */
  parentOf(tree: number): number {
    return this.#parents[tree] as number;
  }

  /** Moves trees that were taken to their next nodes. `renumbered` is one more than the new node's number. */
  advance(taken: readonly number[], renumbered: number): void {
    for (const tree of taken) {
      const node = this.at[tree] as number;
      (this.#renumbered[tree] as Uint32Array)[node + 1] = renumbered;
      this.at[tree] = node + 1;
      this.#enter(tree);
    }
  }

  /** Puts a tree into the heap, at its next living node. */
  #enter(tree: number): void {
    const { counts, parents, starts, keys } = this.trees[tree] as Nodes;
    const node = nextLiving(counts, this.at[tree] as number, counts.length);
    this.at[tree] = node;
    if (node === counts.length) return;
    const parent = parents[node] as number;
    this.#parents[tree] = (this.#renumbered[tree] as Uint32Array)[parent] as number;
    const [from, to] = [starts[node] as number, starts[node + 1] as number];
    this.#firsts[tree] = prefixOf(keys, from, to);
    this.#seconds[tree] = prefixOf(keys, from + PREFIX_BYTES, to);
    this.#lengths[tree] = to - from;
    this.#push(tree);
  }

  #push(tree: number): void {
    const heap = this.#heap;
    let at = this.#size++;
    while (at > 0) {
      const above = (at - 1) >>> 1;
      if (this.#isBefore(heap[above] as number, tree)) break;
      heap[at] = heap[above] as number;
      at = above;
    }
    heap[at] = tree;
  }

  #pop(): number {
    const heap = this.#heap;
    const least = heap[0] as number;
    const moved = heap[--this.#size] as number;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= this.#size) break;
      if (below + 1 < this.#size && this.#isBefore(heap[below + 1] as number, heap[below] as number)) below++;
      if (this.#isBefore(moved, heap[below] as number)) break;
      heap[at] = heap[below] as number;
      at = below;
    }
    heap[at] = moved;
    return least;
  }

  /** True if a node comes before another. Of equal nodes the one of the earlier tree does: its rows are earlier. */
  #isBefore(a: number, b: number): boolean {
    return (this.#compare(a, b) || a - b) < 0;
  }

  #compare(a: number, b: number): number {
    const parents = (this.#parents[a] as number) - (this.#parents[b] as number);
    if (parents !== 0) return parents;
    const firsts = (this.#firsts[a] as number) - (this.#firsts[b] as number);
    if (firsts !== 0) return firsts;
    const seconds = (this.#seconds[a] as number) - (this.#seconds[b] as number);
    if (seconds !== 0) return seconds;
    const [left, right] = [this.#lengths[a] as number, this.#lengths[b] as number];
    if (left <= PREFIXES_BYTES && right <= PREFIXES_BYTES) return left - right;
    return compareKeys(
      this.trees[a] as Nodes,
      this.at[a] as number,
      this.trees[b] as Nodes,
      this.at[b] as number,
    );
  }
}

/** Returns some bytes as a number; zeros follow the last. */
function prefixOf(keys: Uint8Array, from: number, to: number): number {
  let prefix = 0;
  for (let i = from; i < from + PREFIX_BYTES; i++) prefix = prefix * 256 + (i < to ? (keys[i] as number) : 0);
  return prefix;
}
