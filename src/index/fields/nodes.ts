import type { Lists } from "../rows/inverted.js";
import { KIND } from "./keys.js";

/**
 * A tree of paths and values in flat arrays. Nodes are in the order of their parents, and of their keys below one
 * parent, so that a parent is before its children, and they lie together. A path has no rows, but counts its living
 * children.
 */
export interface Nodes extends Lists {
  /** For each node, one more than its parent; 0 at the top. */
  readonly parents: Uint32Array;
  /** Where each node's key begins; one more for the end of the last. */
  readonly starts: Uint32Array;
  readonly keys: Uint8Array;
}

/** True if a node is a path; others are values. */
export function isPath({ keys, starts }: Pick<Nodes, "keys" | "starts">, node: number): boolean {
  return (keys[starts[node] as number] as number) >= KIND.path;
}

/** Lower bound: the first node, from one to before another below one parent, whose key is >= `key`. */
export function firstNode(nodes: Nodes, key: Uint8Array, { from, to }: Range): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    // The keys of dead nodes are zeroed.
    const living = nextLiving(nodes.counts, middle, high);
    if (living < high && compareKey(nodes, living, key) < 0) low = living + 1;
    else high = middle;
  }
  return low;
}

/** Finds the living node with a key, from one to before another below one parent. */
export function findNode(nodes: Nodes, key: Uint8Array, range: Range): number | undefined {
  const node = nextLiving(nodes.counts, firstNode(nodes, key, range), range.to);
  return node < range.to && compareKey(nodes, node, key) === 0 ? node : undefined;
}

export interface Range {
  readonly from: number;
  readonly to: number;
}

/** Returns the first living node from one to before another; `to` if there is none. */
export function nextLiving(counts: Uint32Array, from: number, to: number): number {
  let node = from;
  while (node < to && counts[node] === 0) node++;
  return node;
}

function compareKey({ keys, starts }: Nodes, node: number, key: Uint8Array): number {
  const from = starts[node] as number;
  const length = (starts[node + 1] as number) - from;
  const common = Math.min(length, key.length);
  for (let i = 0; i < common; i++) {
    const difference = (keys[from + i] as number) - (key[i] as number);
    if (difference !== 0) return difference;
  }
  return length - key.length;
}

/** Compares the keys of two nodes. */
export function compareKeys(a: Nodes, nodeA: number, b: Nodes, nodeB: number): number {
  const [fromA, fromB] = [a.starts[nodeA] as number, b.starts[nodeB] as number];
  const lengthA = (a.starts[nodeA + 1] as number) - fromA;
  const lengthB = (b.starts[nodeB + 1] as number) - fromB;
  const common = Math.min(lengthA, lengthB);
  for (let i = 0; i < common; i++) {
    const difference = (a.keys[fromA + i] as number) - (b.keys[fromB + i] as number);
    if (difference !== 0) return difference;
  }
  return lengthA - lengthB;
}
