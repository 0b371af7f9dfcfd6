import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { basename } from "node:path";
import { workerData } from "node:worker_threads";
import type { Index } from "usearch";
import { handleCalls, Transferred } from "../../concurrency/worker-handlers.js";
import { unlessTooMany } from "../segment-file.js";
import { compare } from "./compare.js";
import { type Matches, newGraph, view } from "./graph.js";
import {
  type DescribedGraph,
  describeGraph,
  type Expected,
  isWholeGraph,
  vectorsAt,
  vectorsIn,
} from "./graph-file.js";
import { keyOf, parseKey, VECTORS_MAX } from "./keys.js";
import { quantize } from "./quantize.js";

/** Number of vectors that are read at a time. */
const SLICE_ROWS = 1024;
/** Niceness of threads whose work no call waits for: of a busy core they get a tenth of what others get. */
const NICENESS = 10;

/** A graph's file. */
interface OfGraph {
  readonly path: string;
  readonly dimensions: number;
}

/** What a new graph begins with: all of another graph but some memories. */
interface Base {
  readonly dimensions: number;
  readonly path?: string | undefined;
  readonly gone: readonly number[];
  /** True if the graph is built anew from the file's vectors, because it has many gaps. */
  readonly anew?: boolean | undefined;
}

interface Search extends OfGraph {
  readonly vector: Float32Array;
  readonly count: number;
}

interface GraphOf {
  readonly dimensions: number;
  readonly graph: Index;
}

/** The graph that is being built. */
let building: GraphOf | undefined;
/** The graph that was searched last: usearch lets go of a file for the next one, or else when garbage is collected. */
let searched: GraphOf | undefined;

function begin({ dimensions, path, gone, anew = false }: Base): void {
  const graph = newGraph(dimensions);
  building = { dimensions, graph };
  if (path === undefined) return;
  if (anew) copyRows(graph, { path, dimensions, gone: new Set(gone) });
  else {
    graph.load(path);
    remove(graph, gone);
  }
}

function copyRows(graph: Index, { path, dimensions, gone }: OfGraph & { gone: Set<number> }): void {
  for (const { keys, vectors } of vectorsIn(path, dimensions)) {
    for (const [row, key] of keys.entries()) {
      if (gone.has(parseKey(key).sequence)) continue;
      graph.add(BigInt(key), vectors.slice(row * dimensions, (row + 1) * dimensions), 1);
    }
  }
}

/** Removes memories; the vectors of each are numbered without a gap. */
function remove(graph: Index, sequences: readonly number[]): void {
  for (const sequence of sequences) {
    for (let i = 0; i < VECTORS_MAX && graph.remove(BigInt(keyOf(sequence, i))) !== 0; i++);
  }
}

function add(rows: { keys: BigUint64Array; vectors: Float32Array; threads: number }): void {
  building?.graph.add(rows.keys, rows.vectors, rows.threads);
}

/** Writes the graph's file, without some memories. */
function write({ path, gone }: { path: string; gone: readonly number[] }): Transferred<DescribedGraph> {
  if (building === undefined) throw new Error("no graph is being built");
  const { dimensions, graph } = building;
  building = undefined;
  remove(graph, gone);
  graph.save(path);
  const described = describeGraph(path, dimensions);
  const { keys, slots, sums } = described;
  return new Transferred(
    described,
    [keys, slots, sums].map(({ buffer }) => buffer as ArrayBuffer),
  );
}

/** Returns whether a graph's file is whole. */
function check(expected: Expected): boolean {
  try {
    return isWholeGraph(expected);
  } catch (error) {
    // Files that are missing or unreadable are built again from the log.
    return unlessTooMany(false)(error);
  }
}

function search({ path, dimensions, vector, count }: Search): Matches {
  if (searched?.dimensions !== dimensions) searched = { dimensions, graph: newGraph(dimensions) };
  const { graph } = searched;
  view(graph, path);
  const { keys, distances } = graph.search(vector, count, 1);
  return { keys, distances };
}

/** Compares a vector with all of a segment's, which the graph cannot miss then. */
function searchExactly({ path, dimensions, vector, count }: Search): Matches {
  const best: { key: number; distance: number }[] = [];
  for (const { keys, vectors } of vectorsIn(path, dimensions)) {
    const near = compare(vectors, vector, { count });
    for (const [i, row] of near.keys.entries()) {
      best.push({ key: keys[Number(row)] as number, distance: near.distances[i] as number });
    }
    best.sort((a, b) => a.distance - b.distance).splice(count);
  }
  const keys = BigUint64Array.from(best, ({ key }) => BigInt(key));
  return { keys, distances: Float32Array.from(best, ({ distance }) => distance) };
}

/** Reads a graph's vectors in a byte for each dimension, in the order of some slots. This takes about a microsecond each. */
function compact({ path, dimensions, slots }: OfGraph & { slots: Uint32Array }): Transferred<Int8Array> {
  const rows = new Int8Array(slots.length * dimensions);
  for (let from = 0; from < slots.length; from += SLICE_ROWS) {
    const vectors = vectorsAt(path, slots.subarray(from, from + SLICE_ROWS), dimensions);
    for (let at = 0; at < vectors.length; at += dimensions) {
      rows.set(quantize(vectors.subarray(at, at + dimensions)).numbers, from * dimensions + at);
    }
  }
  return new Transferred(rows, [rows.buffer]);
}

/**
 * Lets all other threads go before this one, also those that it starts. Where the system knows priorities of
 * processes only, or allows no change, it does nothing.
 */
function letOthersGoFirst(): void {
  if (process.platform !== "linux") return;
  try {
    // Linux numbers threads as it numbers processes.
    setPriority(Number(basename(readlinkSync("/proc/thread-self"))), NICENESS);
  } catch {
    // A sandbox may forbid it, and the work is the same without.
  }
}

if (workerData.background) letOthersGoFirst();

/** Work on graphs that takes too long for the main thread. A thread does one piece after the other. */
const handlers = { check, begin, add, write, search, searchExactly, compact };
export type IndexHandlers = typeof handlers;
handleCalls(handlers);
