import { compareKeys, type Nodes, nextLiving } from "./nodes.js";

/** Bytes of a key that are compared at once, and the two times that this is done before all bytes are. */
const PREFIX_BYTES = 6;
const PREFIXES_BYTES = 2 * PREFIX_BYTES;

/** Trees that are merged, each at one of its nodes. The least of these nodes comes first: they are in a heap. */
export class Cursors {
  /** For each tree, the new numbers of its paths, as `parents` has them: one more, and 0 at the top. */
  readonly #renumbered: readonly Uint32Array[];
  readonly #at: Uint32Array;
  /** New parent of the node that each tree is at, the beginning of its key as two numbers, and the key's length. */
  readonly #parents: Uint32Array;
  readonly #firsts: Float64Array;
  readonly #seconds: Float64Array;
  readonly #lengths: Uint32Array;
  readonly #heap: Uint32Array;
  #size = 0;

  constructor(private readonly trees: readonly Nodes[]) {
    this.#renumbered = trees.map(({ parents }) => new Uint32Array(parents.length + 1));
    this.#at = new Uint32Array(trees.length);
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

  nodeOf(tree: number): number {
    return this.#at[tree] as number;
  }

  /** New parent of the node that a tree is at. */
  parentOf(tree: number): number {
    return this.#parents[tree] as number;
  }

  /** Moves trees that were taken to their next nodes. `renumbered` is one more than the new node's number. */
  advance(taken: readonly number[], renumbered: number): void {
    for (const tree of taken) {
      const node = this.#at[tree] as number;
      (this.#renumbered[tree] as Uint32Array)[node + 1] = renumbered;
      this.#at[tree] = node + 1;
      this.#enter(tree);
    }
  }

  /** Puts a tree into the heap, at its next living node. */
  #enter(tree: number): void {
    const { counts, parents, starts, keys } = this.trees[tree] as Nodes;
    const node = nextLiving(counts, this.#at[tree] as number, counts.length);
    this.#at[tree] = node;
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

  /** Of equal nodes, those of earlier trees come first, whose rows mostly are. */
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
    return compareKeys(this.trees[a] as Nodes, this.nodeOf(a), this.trees[b] as Nodes, this.nodeOf(b));
  }
}

/** Returns some bytes as a number; zeros follow the last. */
function prefixOf(keys: Uint8Array, from: number, to: number): number {
  let prefix = 0;
  for (let i = from; i < from + PREFIX_BYTES; i++) prefix = prefix * 256 + (i < to ? (keys[i] as number) : 0);
  return prefix;
}
