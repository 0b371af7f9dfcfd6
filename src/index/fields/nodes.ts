import type { Range } from "../rows/lower-bound.js";
import type { Nodes } from "./keys.js";

type Keys = Pick<Nodes, "keys" | "starts">;

/** Lower bound: the first node, from one to before another below one parent, whose key is >= `key`. */
export function firstNode(nodes: Nodes, key: Uint8Array, { from, to }: Range, skips?: Skips): number {
  const sought = alone(key);
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    // The keys of dead nodes are zeroed.
    const living = nextLiving(nodes.counts, middle, high, skips);
    if (living < high && compareKeys(nodes, living, sought, 0) < 0) low = living + 1;
    else high = middle;
  }
  return low;
}

/** Finds the living node with a key, from one to before another below one parent. */
export function findNode(nodes: Nodes, key: Uint8Array, range: Range, skips?: Skips): number | undefined {
  const node = nextLiving(nodes.counts, firstNode(nodes, key, range, skips), range.to, skips);
  return node < range.to && compareKeys(nodes, node, alone(key), 0) === 0 ? node : undefined;
}

/** Numbers of dead nodes, each with one up to which all are dead: searches of one tree come to the same ones. */
export type Skips = Map<number, number>;

/** Dead nodes in a row that are worth a note. */
const SKIPPED_MIN = 64;

/** Returns the first living node from one to before another; `to` if there is none. */
export function nextLiving(counts: Uint32Array, from: number, to: number, skips?: Skips): number {
  let node = Math.min(to, skips?.get(from) ?? from);
  while (node < to && counts[node] === 0) node++;
  // None comes to life again.
  if (node - from >= SKIPPED_MIN) skips?.set(from, Math.max(node, skips.get(from) ?? 0));
  return node;
}

function alone(key: Uint8Array): Keys {
  return { keys: key, starts: Uint32Array.of(0, key.length) };
}

/** Compares the keys of two nodes. */
export function compareKeys(a: Keys, nodeA: number, b: Keys, nodeB: number): number {
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
