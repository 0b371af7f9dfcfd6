import { parentPort, workerData } from "node:worker_threads";
import { Index, MetricKind, ScalarKind } from "usearch";
import type { Hit, Mark, Restored } from "../memory/ports/vectors.js";
import { type Found, searchDistinct } from "./distinct.js";
import { BLANK_KEYS_FROM, keyOf, placeOf, VECTORS_MAX } from "./snapshot/keys.js";
import { findSnapshot, noteUse, type SnapshotOf, writeSnapshot } from "./snapshot/snapshot.js";

/**
 * Requests to the thread that owns one HNSW graph. Every call into usearch blocks its thread, so each
 * graph has a thread, which answers messages in the order of arrival.
 */
export type Request =
  | { readonly op: "add"; readonly keys: BigUint64Array; readonly rows: Float32Array }
  | { readonly op: "remove"; readonly sequences: readonly number[] }
  | {
      readonly op: "search";
      readonly vector: Float32Array;
      readonly limit: number;
      readonly depthMax: number;
    }
  | { readonly op: "snapshot"; readonly mark: Mark }
  | { readonly op: "restore" };

export interface Answer {
  readonly found?: Hit[];
  readonly removed?: { readonly memories: number; readonly vectors: number };
  /** Name of a snapshot's files. */
  readonly written?: string;
  readonly restored?: {
    readonly snapshot: Restored;
    readonly size: number;
    readonly rows: number;
    readonly dead: number;
  };
}
export type Reply = Answer | { readonly error: string };

const BREADTH_MIN = 256;
const BREADTH_ROWS = 100_000;

const of = workerData as SnapshotOf;
const { dimensions } = of;

// bf16, 16, 128: recall@10 .989 on 90,772 real texts at half the memory of float32, measured.
const index = new Index({
  dimensions,
  metric: MetricKind.Cos,
  quantization: ScalarKind.BF16,
  connectivity: 16,
  expansion_add: 128,
  expansion_search: BREADTH_MIN,
  multi: false,
});

/**
 * Number of places overwritten before other work gets its turn: each is an insertion, and takes about a
 * millisecond.
 */
const BLANKS_SLICE = 4;

/** Number of places with a blank vector, and of free places. */
let blanks = 0;
let free = 0;
/** Whether a free place may still hold a removed vector. Those of a snapshot hold zeros. */
let dirty = false;
let memories = 0;
let blanking = false;

/**
 * Overwrites the vectors in free places. Removing a vector only marks its place as free: searches no
 * longer find it, but the vector stays. The next added vector takes the place, so a random one, far from
 * any text, is added and keeps it.
 */
function fillFree(most: number): void {
  for (let filled = 0; dirty && free > 0 && filled < most; filled++) {
    const blank = Float32Array.from({ length: dimensions }, () => Math.random() - 0.5);
    index.add(BLANK_KEYS_FROM + BigInt(blanks), blank, 1);
    blanks++;
    free--;
  }
  dirty &&= free > 0;
}

/** Overwrites the remaining free places in slices, so that searches are answered in between. */
function fillFreeSoon(): void {
  if (blanking || !dirty) return;
  blanking = true;
  setImmediate(() => {
    blanking = false;
    fillFree(BLANKS_SLICE);
    fillFreeSoon();
  });
}

/**
 * Returns the breadth of a search: 256 places find .99 of 100,000, and a graph ten times as large needs
 * about twice as many. usearch takes the larger of this and its own setting.
 */
function breadth(): number {
  return Math.round(BREADTH_MIN * Math.max(1, index.size() / BREADTH_ROWS) ** 0.3);
}

/** Removes a memory's vectors, which are numbered without a gap; returns their number. */
function remove(sequence: number): number {
  let vectors = 0;
  while (vectors < VECTORS_MAX && index.remove(keyOf(sequence, vectors)) !== 0) vectors++;
  free += vectors;
  dirty ||= vectors > 0;
  return vectors;
}

function search(vector: Float32Array, count: number): Found {
  // Blanks may appear among poor matches, so the search leaves room for them.
  const { keys, distances } = index.search(vector, Math.max(breadth(), count + Math.min(blanks, count)), 1);
  return {
    length: keys.length,
    at: (place) => {
      const key = keys[place] as bigint;
      if (key >= BLANK_KEYS_FROM) return undefined;
      return { ...placeOf(key), similarity: 1 - (distances[place] as number) };
    },
  };
}

function restore(): Answer {
  const found = findSnapshot(of);
  if (found === undefined) return {};
  const { mark, size, rows, blanks: blanksKept } = found.manifest;
  index.load(found.path);
  noteUse(of);
  // Wiped rows are zeros in the file: searches must not find them, and they need no overwriting.
  const keys = [...found.wiped.keyOfSlot.values()];
  index.remove(BigUint64Array.from(keys, BigInt));
  const wiped = keys.map((key) => placeOf(BigInt(key))).filter(({ window }) => window === 0);
  blanks = blanksKept;
  memories = size - wiped.length;
  free = rows - index.size();
  const snapshot = { ...mark, wiped: wiped.map(({ sequence }) => sequence) };
  const living = index.size() - blanks;
  return { restored: { snapshot, size: memories, rows: living, dead: rows - living } };
}

function answer(request: Request): Answer {
  switch (request.op) {
    case "add":
      // With one thread, because after single-threaded adds a search with more throws.
      index.add(request.keys, request.rows, 1);
      free = Math.max(0, free - request.keys.length);
      memories += request.keys.filter((key) => placeOf(key).window === 0).length;
      return {};
    case "remove": {
      const removed = request.sequences.map(remove).filter((vectors) => vectors > 0);
      memories -= removed.length;
      fillFree(BLANKS_SLICE);
      return { removed: { memories: removed.length, vectors: removed.reduce((a, b) => a + b, 0) } };
    }
    case "search": {
      const limit = Math.min(request.limit, memories);
      if (limit === 0) return { found: [] };
      const { vector, depthMax } = request;
      return { found: searchDistinct({ limit, depthMax }, (count) => search(vector, count)) };
    }
    case "snapshot": {
      const { mark } = request;
      const manifest = { mark, size: memories, blanks };
      return { written: writeSnapshot(of, manifest, (path) => index.save(path)) };
    }
    case "restore":
      return restore();
  }
}

parentPort?.on("message", (request: Request) => {
  let reply: Reply;
  try {
    reply = answer(request);
  } catch (error) {
    reply = { error: String(error) };
  }
  parentPort?.postMessage(reply);
  fillFreeSoon();
});
