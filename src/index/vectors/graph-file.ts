import { closeSync, fdatasyncSync, fstatSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import { Bits } from "../rows/bits.js";
import { type GraphLayout, ROWS_OFFSET } from "../segment-file.js";
import type { KeySlots } from "./keys.js";

// How USearch 2 lays out a file, `index_dense_gt::save_to_stream` and `index_gt::save_to_stream`: the
// numbers of rows and of bytes in each, the rows, a head of 64 bytes, the graph's header of 40 bytes, the
// level of every node, and the nodes: key, level and links. Rows and nodes are in the order of their slots.

const HEAD_BYTES = 64;
const HEADER_BYTES = 40;
const LEVEL_BYTES = 2;
const KEY_BYTES = 8;
const LINK_BYTES = 4;
/** Number of rows read at a time. All nodes of the largest segment take some 8 MB. */
const WINDOW_ROWS = 1024;
/** Key of a slot that nothing holds: as many bits are set as a key has. */
const FREE_KEY = 2 ** 64;

type Shape = Pick<GraphLayout, "bytes" | "rows" | "rowBytes">;

/** Description of a graph's file, which its segment holds: the slot of each vector, and a checksum of each slot's row. */
export interface DescribedGraph extends KeySlots {
  readonly graph: GraphLayout;
  readonly sums: Uint32Array;
}

/** Describes a graph's file, and overwrites free rows, which still have the vectors of removed memories. */
export function describeGraph(path: string, dimensions: number): DescribedGraph {
  return onFile(path, "r+", (fd) => {
    const shape = shapeOf(fd);
    const { rows, rowBytes } = shape;
    const keyOfSlot = readKeys(fd, shape);
    const slots = Uint32Array.from({ length: rows }, (_, slot) => slot);
    const free = slots.filter((slot) => keyOfSlot[slot] === FREE_KEY);
    zeroRows(fd, free, rowBytes);
    const sums = new Uint32Array(rows);
    for (const [slot, row] of rowsIn(fd, shape)) sums[slot] = crc32(row);
    const held = slots.filter((slot) => keyOfSlot[slot] !== FREE_KEY);
    held.sort((a, b) => (keyOfSlot[a] as number) - (keyOfSlot[b] as number));
    const keys = Float64Array.from(held, (slot) => keyOfSlot[slot] as number);
    return { graph: { dimensions, ...shape, frame: frameOf(fd, shape) }, keys, slots: held, sums };
  });
}

/** What must be true of a graph's file. */
export interface Expected {
  readonly path: string;
  readonly graph: GraphLayout;
  readonly slots: Uint32Array;
  /** Bits of the positions whose vectors live. */
  readonly live: Uint32Array;
  readonly sums: Uint32Array;
}

/**
 * Checks that a graph's file is whole: native code must not see any other, because a cut file ends the process and a
 * changed one gives wrong answers. Rows whose vectors do not live are overwritten, if a crash came in between.
 */
export function isWholeGraph({ path, graph, slots, live, sums }: Expected): boolean {
  if (statSync(path).size !== graph.bytes) return false;
  const bits = new Bits(slots.length, live);
  const isLive = new Uint8Array(graph.rows);
  for (const [position, slot] of slots.entries()) if (bits.has(position)) isLive[slot] = 1;
  const unwiped: number[] = [];
  const isWhole = onFile(path, "r", (fd) => {
    if (frameOf(fd, graph) !== graph.frame) return false;
    for (const [slot, row] of rowsIn(fd, graph)) {
      if (isLive[slot] === 1) {
        if (crc32(row) !== sums[slot]) return false;
      } else if (row.some((byte) => byte !== 0)) unwiped.push(slot);
    }
    return true;
  });
  if (isWhole && unwiped.length > 0) onFile(path, "r+", (fd) => zeroRows(fd, unwiped, graph.rowBytes));
  return isWhole;
}

/** Some vectors of a graph's file, as float32, end to end. */
export interface Rows {
  readonly keys: Float64Array;
  readonly vectors: Float32Array;
}

/** Reads the vectors of a graph's file, without those in free slots, piece by piece. */
export function* vectorsIn(path: string, dimensions: number): Generator<Rows> {
  const fd = openSync(path, "r");
  try {
    const shape = shapeOf(fd);
    if (shape.rowBytes !== dimensions * Uint16Array.BYTES_PER_ELEMENT)
      throw unknown("its rows are not of bf16");
    const keys = readKeys(fd, shape);
    for (let from = 0; from < shape.rows; from += WINDOW_ROWS) {
      const to = Math.min(from + WINDOW_ROWS, shape.rows);
      const slots = Uint32Array.from({ length: to - from }, (_, i) => from + i);
      const held = slots.filter((slot) => keys[slot] !== FREE_KEY);
      const vectors = readVectors(fd, held, dimensions);
      yield { keys: Float64Array.from(held, (slot) => keys[slot] as number), vectors };
    }
  } finally {
    closeSync(fd);
  }
}

/** Reads some vectors of a graph's file by their slots, as float32, end to end. */
export function vectorsAt(path: string, slots: Uint32Array, dimensions: number): Float32Array {
  return onFile(path, "r", (fd) => readVectors(fd, slots, dimensions));
}

function readVectors(fd: number, slots: Uint32Array, dimensions: number): Float32Array {
  const rowBytes = dimensions * Uint16Array.BYTES_PER_ELEMENT;
  const rounded = new Uint16Array(slots.length * dimensions);
  const bytes = Buffer.from(rounded.buffer);
  for (let i = 0; i < slots.length; ) {
    // Neighbours are read at once.
    let end = i + 1;
    while (slots[end] === (slots[i] as number) + end - i) end++;
    readInto(bytes.subarray(i * rowBytes, end * rowBytes), fd, ROWS_OFFSET + (slots[i] as number) * rowBytes);
    i = end;
  }
  // bf16 is the upper half of a float32.
  const bits = new Uint32Array(rounded.length);
  for (let i = 0; i < rounded.length; i++) bits[i] = (rounded[i] as number) << 16;
  return new Float32Array(bits.buffer);
}

function zeroRows(fd: number, slots: Iterable<number>, rowBytes: number): void {
  const zeros = Buffer.alloc(rowBytes);
  for (const slot of slots) writeSync(fd, zeros, 0, rowBytes, ROWS_OFFSET + slot * rowBytes);
  fdatasyncSync(fd);
}

function* rowsIn(fd: number, { rows, rowBytes }: Shape): Generator<[slot: number, row: Buffer]> {
  const memory = Buffer.allocUnsafe(Math.min(WINDOW_ROWS, rows) * rowBytes);
  for (let from = 0; from < rows; from += WINDOW_ROWS) {
    const count = Math.min(WINDOW_ROWS, rows - from);
    const bytes = readInto(memory.subarray(0, count * rowBytes), fd, ROWS_OFFSET + from * rowBytes);
    for (let i = 0; i < count; i++) yield [from + i, bytes.subarray(i * rowBytes, (i + 1) * rowBytes)];
  }
}

/** Computes the checksum of all of a graph's file but its rows. */
function frameOf(fd: number, { bytes, rows, rowBytes }: Shape): number {
  const rowsTo = ROWS_OFFSET + rows * rowBytes;
  return crc32(read(fd, rowsTo, bytes - rowsTo), crc32(read(fd, 0, ROWS_OFFSET)));
}

function onFile<T>(path: string, flags: "r" | "r+", work: (fd: number) => T): T {
  const fd = openSync(path, flags);
  try {
    return work(fd);
  } finally {
    closeSync(fd);
  }
}

function shapeOf(fd: number): Shape {
  const matrix = read(fd, 0, ROWS_OFFSET);
  return { bytes: fstatSync(fd).size, rows: matrix.readUInt32LE(0), rowBytes: matrix.readUInt32LE(4) };
}

/** Reads the key of each slot. Throws when the file's layout differs from the one above. */
function readKeys(fd: number, { bytes, rows, rowBytes }: Shape): Float64Array {
  const headFrom = ROWS_OFFSET + rows * rowBytes;
  const header = read(fd, headFrom + HEAD_BYTES, HEADER_BYTES);
  if (Number(header.readBigUInt64LE(0)) !== rows) throw unknown("another number of nodes than of rows");
  const linksBytes = (count: bigint) => LINK_BYTES * (1 + Number(count));
  const upper = linksBytes(header.readBigUInt64LE(8));
  const base = linksBytes(header.readBigUInt64LE(16));
  const levelsFrom = headFrom + HEAD_BYTES + HEADER_BYTES;
  const levels = read(fd, levelsFrom, rows * LEVEL_BYTES);
  const keys = new Float64Array(rows);
  const nodesFrom = levelsFrom + rows * LEVEL_BYTES;
  const nodes = read(fd, nodesFrom, bytes - nodesFrom);
  let at = 0;
  for (let slot = 0; slot < rows; slot++) {
    const level = levels.readInt16LE(slot * LEVEL_BYTES);
    if (nodes.readInt16LE(at + KEY_BYTES) !== level) throw unknown(`node ${slot} has another level`);
    keys[slot] = Number(nodes.readBigUInt64LE(at));
    at += KEY_BYTES + LEVEL_BYTES + base + level * upper;
  }
  if (at !== nodes.length) throw unknown(`${nodes.length - at} bytes are left`);
  return keys;
}

function read(fd: number, from: number, bytes: number): Buffer {
  return readInto(Buffer.allocUnsafe(bytes), fd, from);
}

/** Fills a buffer from an offset in a file. */
function readInto(buffer: Buffer, fd: number, from: number): Buffer {
  for (let done = 0; done < buffer.length; ) {
    const got = readSync(fd, buffer, done, buffer.length - done, from + done);
    if (got === 0) throw unknown("it is cut short");
    done += got;
  }
  return buffer;
}

function unknown(what: string): Error {
  return new Error(`the graph's file is laid out in a way that is not known: ${what}`);
}
