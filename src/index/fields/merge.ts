import type { MergeInput } from "../flat.js";
import { cut, MergedLists } from "../rows/inverted.js";
import { Cursors } from "./cursors.js";
import { isPath, type Nodes } from "./nodes.js";

/** Postings, and as many bytes of nodes, that are merged before other work may run. */
const SLICE = 16_384;
/** About how many postings could be copied in the time that a node takes. */
const NODE_WORK = 16;
/** A key is copied byte by byte if it is shorter: a view of it costs more. */
const SHORT_KEY = 48;

/**
 * Merges trees into one. Rows may be removed from them while it waits: a node and its rows are copied at once, so
 * that no key comes without a row, and paths without values are erased at the end.
 */
export function* mergeNodes(inputs: readonly MergeInput<Nodes>[]): Generator<void, Nodes> {
  const merged = new Merged(inputs.map(({ part }) => part));
  const { lists } = merged;
  const cursors = new Cursors(inputs.map(({ part }) => part));
  const taken: number[] = [];
  for (let work = 0; cursors.takeLeast(taken); ) {
    const first = taken[0] as number;
    const { part } = inputs[first] as MergeInput<Nodes>;
    const node = cursors.nodeOf(first);
    const before = merged.keysEnd + lists.end;
    for (const tree of taken) lists.append(inputs[tree] as MergeInput<Nodes>, cursors.nodeOf(tree));
    // A value without rows is left out.
    if (!lists.isEmpty || isPath(part, node)) merged.addNode(part, node, cursors.parentOf(first));
    cursors.advance(taken, lists.size);
    work += NODE_WORK * taken.length + merged.keysEnd + lists.end - before;
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
  readonly lists: MergedLists;
  keysEnd = 0;
  readonly #parents: Uint32Array;
  readonly #starts: Uint32Array;
  readonly #keys: Uint8Array;

  constructor(trees: readonly Nodes[]) {
    this.lists = new MergedLists(trees);
    const nodes = this.lists.counts.length;
    this.#parents = new Uint32Array(nodes);
    this.#starts = new Uint32Array(nodes + 1);
    this.#keys = new Uint8Array(trees.reduce((sum, { keys }) => sum + keys.length, 0));
  }

  /** Adds a node with its key, and the rows that were appended. */
  addNode({ keys, starts }: Nodes, node: number, parent: number): void {
    const { lists } = this;
    this.#parents[lists.size] = parent;
    if (parent > 0) lists.counts[parent - 1] = (lists.counts[parent - 1] as number) + 1;
    lists.endTerm();
    const [from, to] = [starts[node] as number, starts[node + 1] as number];
    const into = this.#keys;
    if (to - from > SHORT_KEY) into.set(keys.subarray(from, to), this.keysEnd);
    else for (let i = from; i < to; i++) into[this.keysEnd + i - from] = keys[i] as number;
    this.keysEnd += to - from;
    this.#starts[lists.size] = this.keysEnd;
  }

  /** Erases paths whose values were all left out. */
  *eraseDead(): Generator<void> {
    const { counts, size } = this.lists;
    for (let node = size - 1; node >= 0; node--) {
      if (node % SLICE === 0) yield;
      if (counts[node] !== 0) continue;
      this.#keys.fill(0, this.#starts[node], this.#starts[node + 1]);
      const parent = this.#parents[node] as number;
      if (parent > 0) counts[parent - 1] = (counts[parent - 1] as number) - 1;
    }
  }

  *finished(): Generator<void, Nodes> {
    const { size } = this.lists;
    const parents = yield* cut(this.#parents, size);
    const starts = yield* cut(this.#starts, size + 1);
    const keys = yield* cut(this.#keys, this.keysEnd);
    return { parents, starts, keys, ...(yield* this.lists.finished()) };
  }
}
