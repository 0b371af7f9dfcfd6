import { closeSync, fstatSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { Index, MetricKind, ScalarKind } from "usearch";

/** Bound of the error of a similarity found in a graph: each side of a product has 8 bits after rounding. */
export const GRAPH_ERROR = 2 ** -8;

/**
 * Makes an empty graph. bf16 takes half the memory of float32 and finds as much. Building with 96 in place of 64
 * candidates takes a third longer, and halves what a search misses; 128 take twice as long, and add little.
 */
export function newGraph(dimensions: number): Index {
  return new Index({
    dimensions,
    metric: MetricKind.Cos,
    quantization: ScalarKind.BF16,
    connectivity: 16,
    expansion_add: 96,
    // The expansion of a search is the number of vectors that it asks for.
    expansion_search: 16,
    multi: false,
  });
}

/** Vectors found by usearch, the nearest first. */
export interface Matches {
  readonly keys: BigUint64Array;
  readonly distances: Float32Array;
}

/** Where an open file can be opened again by its descriptor. */
const DESCRIPTORS: Partial<Record<NodeJS.Platform, string>> = { linux: "/proc/self/fd", darwin: "/dev/fd" };

/**
 * Opens a graph's file. usearch (2.26.2) closes the descriptor 0 if it cannot open a file or map it into memory,
 * and that may be a connection, or another file, by then. So the file is opened here first, and must have something
 * in it: another file may take its place at any time, but not the place of one that is open.
 *
 * @throws Error if there is no such file, or it is not a graph's.
 */
export function view(graph: Index, path: string): void {
  const file = openSync(path, "r");
  try {
    const found = fstatSync(file);
    if (!found.isFile() || found.size === 0) throw new Error(`${path} is no file, or empty`);
    const descriptors = DESCRIPTORS[process.platform];
    graph.view(descriptors === undefined ? path : `${descriptors}/${file}`);
  } finally {
    closeSync(file);
  }
}

/**
 * Gives a graph's file and memory back, which would otherwise take a garbage collection. usearch lets go of a file only
 * for another one, and before it finds out that that one is no graph's. The empty device needs no folder for it.
 */
export function release(graph: Index): void {
  try {
    graph.load(devNull);
  } catch {
    // Expected, because the empty device holds no graph: usearch has let go of the file by then.
  }
}
