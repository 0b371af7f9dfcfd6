import { closeSync, openSync } from "node:fs";
import { type GraphFile, ROWS_FROM, read, readGraphFile, readInto } from "./graph-file.js";
import { FREE_KEY } from "./keys.js";

/** Number of rows read at a time. */
const CHUNK_ROWS = 1024;

/** Some vectors of a graph's file, as float32, end to end. */
export interface Rows {
  readonly keys: BigUint64Array;
  readonly slots: Uint32Array;
  readonly vectors: Float32Array;
}

/** Reads the vectors of a graph's file, without those in free places, piece by piece. */
export function* rowsOf(path: string, dimensions: number): Generator<Rows> {
  const file = readGraphFile(path);
  const fd = openSync(path, "r");
  try {
    for (let from = 0; from < file.rows; from += CHUNK_ROWS) {
      yield heldIn(readRows(fd, { file, from, dimensions }), dimensions);
    }
  } finally {
    closeSync(fd);
  }
}

/** Reads some vectors of a graph's file by their slots, as float32, end to end. */
export function readRowsAt(path: string, slots: Uint32Array, dimensions: number): Float32Array {
  const rowBytes = dimensions * Uint16Array.BYTES_PER_ELEMENT;
  const rounded = new Uint16Array(slots.length * dimensions);
  const bytes = Buffer.from(rounded.buffer);
  const fd = openSync(path, "r");
  try {
    for (const [i, slot] of slots.entries()) {
      readInto(bytes.subarray(i * rowBytes, (i + 1) * rowBytes), fd, ROWS_FROM + slot * rowBytes);
    }
  } finally {
    closeSync(fd);
  }
  return widened(rounded);
}

function readRows(
  fd: number,
  { file, from, dimensions }: { file: GraphFile; from: number; dimensions: number },
): Rows {
  const count = Math.min(CHUNK_ROWS, file.rows - from);
  const bytes = read(fd, ROWS_FROM + from * file.rowBytes, count * file.rowBytes);
  const rounded = new Uint16Array(new Uint8Array(bytes).buffer);
  if (rounded.length !== count * dimensions) throw new Error("the graph's rows are not of bf16");
  const slots = Uint32Array.from({ length: count }, (_, i) => from + i);
  return { keys: file.keys.slice(from, from + count), slots, vectors: widened(rounded) };
}

function widened(rounded: Uint16Array): Float32Array {
  // bf16 is the upper half of a float32.
  const bits = new Uint32Array(rounded.length);
  for (let i = 0; i < rounded.length; i++) bits[i] = (rounded[i] as number) << 16;
  return new Float32Array(bits.buffer);
}

function heldIn({ keys, slots, vectors }: Rows, dimensions: number): Rows {
  if (!keys.includes(FREE_KEY)) return { keys, slots, vectors };
  const held = [...keys.keys()].filter((row) => keys[row] !== FREE_KEY);
  const packed = new Float32Array(held.length * dimensions);
  for (const [i, row] of held.entries()) {
    packed.set(vectors.subarray(row * dimensions, (row + 1) * dimensions), i * dimensions);
  }
  return {
    keys: BigUint64Array.from(held, (row) => keys[row] as bigint),
    slots: Uint32Array.from(held, (row) => slots[row] as number),
    vectors: packed,
  };
}
