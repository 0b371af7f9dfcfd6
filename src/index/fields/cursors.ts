import { compareKeys, type Nodes, nextLiving } from "./nodes.js";

/** Leading bytes of a key that are compared at once. */
const PREFIX_BYTES = 6;

/** Trees that are merged, each at one of its nodes. The least of these nodes comes first: they are in a heap. */
export class Cursors {
  /** For each tree, the new numbers of its paths, as `parents` has them: one more, and 0 at the top. */
  readonly #renumbered: readonly Uint32Array[];
  readonly #at: Uint32Array;
  /** New parent of the node that each tree is at, and the beginning of its key as a number. */
  readonly #parents: Float64Array;
  readonly #prefixes: Float64Array;
  readonly #heap: Uint32Array;
  #size = 0;

  constructor(private readonly trees: readonly Nodes[]) {
    this.#renumbered = trees.map(({ parents }) => new Uint32Array(parents.length + 1));
    this.#at = new Uint32Array(trees.length);
    this.#parents = new Float64Array(trees.length);
    this.#prefixes = new Float64Array(trees.length);
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
    let prefix = 0;
    for (let i = from; i < from + PREFIX_BYTES; i++)
      prefix = prefix * 256 + (i < to ? (keys[i] as number) : 0);
    this.#prefixes[tree] = prefix;
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
    const prefixes = (this.#prefixes[a] as number) - (this.#prefixes[b] as number);
    if (prefixes !== 0) return prefixes;
    const [left, right] = [this.trees[a] as Nodes, this.trees[b] as Nodes];
    return compareKeys(left, this.#at[a] as number, right, this.#at[b] as number);
  }
}
