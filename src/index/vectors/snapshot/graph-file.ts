import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { ROWS_FROM } from "./manifest.js";

// How USearch 2 lays out a file, `index_dense_gt::save_to_stream` and `index_gt::save_to_stream`: the
// numbers of rows and of bytes in each, the rows, a head of 64 bytes, the graph's header of 40 bytes, the
// level of every node, and the nodes: key, level and links. Rows and nodes are in the order of their slots.

const HEAD_BYTES = 64;
const HEADER_BYTES = 40;
const LEVEL_BYTES = 2;
const KEY_BYTES = 8;
const LINK_BYTES = 4;
const WINDOW_BYTES = 1 << 22;

/** Key of a place that nothing holds. */
export const FREE_KEY = 2n ** 64n - 1n;

export interface GraphFile {
  readonly bytes: number;
  readonly rows: number;
  readonly rowBytes: number;
  /** Key of each slot. */
  readonly keys: BigUint64Array;
}

/** Reads the keys of a graph's file. Throws when the file's layout differs from the one above. */
export function readGraphFile(path: string): GraphFile {
  const fd = openSync(path, "r");
  try {
    const bytes = fstatSync(fd).size;
    const matrix = read(fd, 0, ROWS_FROM);
    const [rows, rowBytes] = [matrix.readUInt32LE(0), matrix.readUInt32LE(4)];
    return { bytes, rows, rowBytes, keys: readKeys(fd, { bytes, rows, rowBytes }) };
  } finally {
    closeSync(fd);
  }
}

/** Overwrites free rows, which still have the vectors of removed memories. */
export function wipeFree(path: string, { keys, rowBytes }: GraphFile): void {
  const zeros = Buffer.alloc(rowBytes);
  const fd = openSync(path, "r+");
  try {
    for (const [slot, key] of keys.entries()) {
      if (key === FREE_KEY) writeSync(fd, zeros, 0, rowBytes, ROWS_FROM + slot * rowBytes);
    }
  } finally {
    closeSync(fd);
  }
}

function readKeys(fd: number, { bytes, rows, rowBytes }: Omit<GraphFile, "keys">): BigUint64Array {
  const headFrom = ROWS_FROM + rows * rowBytes;
  const header = read(fd, headFrom + HEAD_BYTES, HEADER_BYTES);
  if (Number(header.readBigUInt64LE(0)) !== rows) throw unknown("another number of nodes than of rows");
  const linksBytes = (count: bigint) => LINK_BYTES * (1 + Number(count));
  const upper = linksBytes(header.readBigUInt64LE(8));
  const base = linksBytes(header.readBigUInt64LE(16));
  const levelsFrom = headFrom + HEAD_BYTES + HEADER_BYTES;
  const levels = read(fd, levelsFrom, rows * LEVEL_BYTES);
  const keys = new BigUint64Array(rows);
  const nodes = slidingOver(fd, bytes);
  let from = levelsFrom + rows * LEVEL_BYTES;
  for (let slot = 0; slot < rows; slot++) {
    const level = levels.readInt16LE(slot * LEVEL_BYTES);
    const node = nodes(from, KEY_BYTES + LEVEL_BYTES);
    if (node.readInt16LE(KEY_BYTES) !== level) throw unknown(`node ${slot} has another level`);
    keys[slot] = node.readBigUInt64LE(0);
    from += KEY_BYTES + LEVEL_BYTES + base + level * upper;
  }
  if (from !== bytes) throw unknown(`${bytes - from} bytes are left`);
  return keys;
}

/** Reads consecutive pieces of a file through a window. */
function slidingOver(fd: number, end: number): (from: number, bytes: number) => Buffer {
  let windowFrom = 0;
  let window: Buffer = Buffer.alloc(0);
  return (from, bytes) => {
    if (from < windowFrom || from + bytes > windowFrom + window.length) {
      windowFrom = from;
      window = read(fd, from, Math.min(WINDOW_BYTES, Math.max(0, end - from)));
    }
    return window.subarray(from - windowFrom, from - windowFrom + bytes);
  };
}

export function read(fd: number, from: number, bytes: number): Buffer {
  return readInto(Buffer.allocUnsafe(bytes), fd, from);
}

/** Fills a buffer from a place in a file. */
export function readInto(buffer: Buffer, fd: number, from: number): Buffer {
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
