import { workerData } from "node:worker_threads";
import { exactSearch, type Index, MetricKind } from "usearch";
import { handleCalls, Transferred } from "../../concurrency/worker-handlers.js";
import type { RecallMeasured } from "../../memory/ports/index.js";
import { type CompactRows, readCompact } from "./among/compact-rows.js";
import { CHECKED } from "./expansion-tuner.js";
import { type Matches, newGraph, view } from "./graph.js";
import { letOthersGoFirst } from "./priority.js";
import { rowsOf } from "./segment-rows.js";
import { keyOf, parseKey, VECTORS_MAX } from "./snapshot/keys.js";
import { graphPath, type SnapshotManifest } from "./snapshot/manifest.js";
import { findSnapshot, noteUse, type SnapshotOf, type Written, writeSnapshot } from "./snapshot/snapshot.js";

/** Number of a segment's vectors for which a search is measured. */
const SAMPLES = 16;

/** Files with which a new graph begins, and the memories of them that it does not take over. */
interface Base {
  readonly ref: SnapshotOf;
  readonly stem?: string | undefined;
  readonly gone: readonly number[];
  /** True if the graph is built anew from the files' vectors, because it has many gaps. */
  readonly anew?: boolean;
}

interface Search {
  readonly ref: SnapshotOf;
  readonly stem: string;
  readonly vector: Float32Array;
  readonly count: number;
}

/** A segment whose files are whole. */
export interface FoundSegment extends Written {
  /** Memories that were wiped since the files were written. */
  readonly wiped: readonly number[];
}

/** The graph that is being built. */
let building: { readonly ref: SnapshotOf; readonly graph: Index } | undefined;

function find(ref: SnapshotOf): FoundSegment | undefined {
  const found = findSnapshot(ref);
  if (found === undefined) return undefined;
  noteUse(ref);
  const { stem, after, mark, size, vectors } = found.manifest;
  const places = [...found.wiped.keyOfSlot.values()].map((key) => parseKey(BigInt(key)));
  const wiped = places.filter(({ window }) => window === 0).map(({ sequence }) => sequence);
  return { stem, after, mark, size, vectors, wiped };
}

function begin({ ref, stem, gone, anew = false }: Base): void {
  const graph = newGraph(ref.dimensions);
  building = { ref, graph };
  if (stem === undefined) return;
  if (anew) copyRows(graph, { ref, stem, gone: new Set(gone) });
  else {
    graph.load(graphPath(ref, stem));
    remove(graph, gone);
  }
}

function copyRows(
  graph: Index,
  { ref, stem, gone }: { ref: SnapshotOf; stem: string; gone: Set<number> },
): void {
  for (const { keys, vectors } of rowsOf(graphPath(ref, stem), ref.dimensions)) {
    for (const [row, key] of keys.entries()) {
      if (gone.has(parseKey(key).sequence)) continue;
      graph.add(key, vectors.slice(row * ref.dimensions, (row + 1) * ref.dimensions), 1);
    }
  }
}

/** Removes memories; the vectors of each are numbered without a gap. */
function remove(graph: Index, sequences: readonly number[]): void {
  for (const sequence of sequences) {
    for (let i = 0; i < VECTORS_MAX && graph.remove(keyOf(sequence, i)) !== 0; i++);
  }
}

function add(rows: { keys: BigUint64Array; vectors: Float32Array; threads: number }): void {
  building?.graph.add(rows.keys, rows.vectors, rows.threads);
}

function write({
  after,
  mark,
  gone,
}: Pick<SnapshotManifest, "after" | "mark"> & { gone: readonly number[] }): Written {
  if (building === undefined) throw new Error("no graph is being built");
  const { ref, graph } = building;
  building = undefined;
  remove(graph, gone);
  return writeSnapshot(ref, { after, mark }, (path) => graph.save(path));
}

function search({ ref, stem, vector, count }: Search): Matches {
  const graph = newGraph(ref.dimensions);
  view(graph, graphPath(ref, stem));
  const { keys, distances } = graph.search(vector, count, 1);
  return { keys, distances };
}

/** Compares a vector with all of a segment's, which the graph cannot miss then. */
function searchExactly({ ref, stem, vector, count }: Search): Matches {
  const best: { key: bigint; distance: number }[] = [];
  for (const { keys, vectors } of rowsOf(graphPath(ref, stem), ref.dimensions)) {
    const wanted = Math.min(count, keys.length);
    if (wanted === 0) continue;
    const near = exactSearch(vectors, vector, ref.dimensions, wanted, MetricKind.Cos, 1);
    for (const [i, row] of near.keys.entries()) {
      best.push({ key: keys[Number(row)] as bigint, distance: near.distances[i] as number });
    }
    best.sort((a, b) => a.distance - b.distance).splice(count);
  }
  const keys = BigUint64Array.from(best, ({ key }) => key);
  return { keys, distances: Float32Array.from(best, ({ distance }) => distance) };
}

/** Searches for some of a segment's own vectors by the graph and exactly, and compares. */
function measure({ ref, expansion }: { ref: SnapshotOf; expansion: number }): RecallMeasured {
  const { manifest } = findSnapshot(ref) ?? {};
  if (manifest === undefined) return { found: 0, compared: 0 };
  const { stem } = manifest;
  let [found, count] = [0, 0];
  for (const vector of samplesOf(ref, stem)) {
    const asked = { ref, stem, vector, count: CHECKED };
    const truly = searchExactly(asked).keys;
    const had = new Set(search({ ...asked, count: expansion }).keys.slice(0, CHECKED));
    count += truly.length;
    for (const key of truly) if (had.has(key)) found++;
  }
  return { found, compared: count };
}

function samplesOf(ref: SnapshotOf, stem: string): Float32Array[] {
  const [first] = rowsOf(graphPath(ref, stem), ref.dimensions);
  if (first === undefined) return [];
  const step = Math.ceil(first.keys.length / SAMPLES);
  const samples = Array.from({ length: Math.floor(first.keys.length / step) }, (_, i) => {
    return first.vectors.slice(i * step * ref.dimensions, (i * step + 1) * ref.dimensions);
  });
  // Removed vectors are zeros.
  return samples.filter((vector) => vector.some((x) => x !== 0));
}

function giveUp(): void {
  building = undefined;
}

function compact({ ref, stem }: { ref: SnapshotOf; stem: string }): Transferred<CompactRows> {
  const rows = readCompact(ref, stem);
  const arrays = [rows.keys, rows.slots, rows.rows];
  return new Transferred(
    rows,
    arrays.map(({ buffer }) => buffer as ArrayBuffer),
  );
}

if (workerData.background) letOthersGoFirst();

/** Work on graphs that takes too long for the main thread. A thread does one piece after the other. */
const handlers = { find, begin, add, write, giveUp, measure, search, searchExactly, compact };
export type IndexHandlers = typeof handlers;
handleCalls(handlers);
