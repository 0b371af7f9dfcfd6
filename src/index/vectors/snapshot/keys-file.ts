import { closeSync, openSync, writeSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { FREE_KEY } from "./graph-file.js";
import { VECTORS_MAX } from "./keys.js";
import { type SnapshotManifest, sha256Of } from "./manifest.js";

// The file of keys tells the slot of each vector in a graph's file. It has an entry for each vector, in
// the order of the keys, in blocks that can be read and checked one by one.

const BLOCK_ENTRIES = 4096;
/** Length of an entry: a key, as a double, and a slot. */
const ENTRY_BYTES = 12;

type Block = SnapshotManifest["keys"][number];

export interface Slot {
  readonly slot: number;
  readonly key: number;
}

/** Writes the file; returns its blocks for the manifest. */
export function writeKeys(path: string, keys: BigUint64Array): SnapshotManifest["keys"] {
  const slots = slotsInOrder(keys);
  const blocks: Block[] = [];
  const fd = openSync(path, "w", 0o600);
  try {
    for (let from = 0; from < slots.length; from += BLOCK_ENTRIES) {
      const bytes = pack(slots.subarray(from, from + BLOCK_ENTRIES), keys);
      writeSync(fd, bytes);
      blocks.push({ first: bytes.readDoubleLE(0), sha256: sha256Of(bytes) });
    }
  } finally {
    closeSync(fd);
  }
  return blocks;
}

/** Reads a whole file of keys. Throws when a block is damaged. */
export function readKeys(
  bytes: Buffer,
  blocks: SnapshotManifest["keys"],
): { keys: Float64Array; slots: Uint32Array } {
  const blockBytes = BLOCK_ENTRIES * ENTRY_BYTES;
  for (const [i, { sha256 }] of blocks.entries()) {
    const block = bytes.subarray(i * blockBytes, (i + 1) * blockBytes);
    if (sha256Of(block) !== sha256) throw new Error("the snapshot's keys are damaged");
  }
  const count = Math.min(bytes.length / ENTRY_BYTES, blocks.length * BLOCK_ENTRIES);
  const keys = new Float64Array(count);
  const slots = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    keys[i] = bytes.readDoubleLE(i * ENTRY_BYTES);
    slots[i] = bytes.readUInt32LE(i * ENTRY_BYTES + 8);
  }
  return { keys, slots };
}

/** Returns the slots that hold a memory's vector, in the order of their keys. */
export function slotsInOrder(keys: BigUint64Array): Uint32Array {
  const held = Uint32Array.from(keys.keys()).filter((slot) => keys[slot] !== FREE_KEY);
  const numbers = Float64Array.from(keys, Number);
  return held.sort((a, b) => (numbers[a] as number) - (numbers[b] as number));
}

function pack(slots: Uint32Array, keys: BigUint64Array): Buffer {
  const bytes = Buffer.allocUnsafe(slots.length * ENTRY_BYTES);
  for (const [i, slot] of slots.entries()) {
    bytes.writeDoubleLE(Number(keys[slot]), i * ENTRY_BYTES);
    bytes.writeUInt32LE(slot, i * ENTRY_BYTES + 8);
  }
  return bytes;
}

/** Finds the slots of some memories' vectors. Throws when a block is damaged. */
export async function findSlots(
  path: string,
  { blocks, sequences }: { blocks: SnapshotManifest["keys"]; sequences: readonly number[] },
): Promise<Slot[]> {
  const file = await open(path, "r");
  try {
    const reader = new BlockReader(file, blocks);
    const found: Slot[] = [];
    for (const sequence of [...sequences].sort((a, b) => a - b)) found.push(...(await reader.find(sequence)));
    return found;
  } finally {
    await file.close();
  }
}

class BlockReader {
  #at = -1;
  #block: Buffer = Buffer.alloc(0);

  constructor(
    private readonly file: FileHandle,
    private readonly blocks: SnapshotManifest["keys"],
  ) {}

  async find(sequence: number): Promise<Slot[]> {
    const [from, to] = [sequence * VECTORS_MAX, (sequence + 1) * VECTORS_MAX];
    const found: Slot[] = [];
    for (let at = this.#blockOf(from); at < this.blocks.length; at++) {
      if ((this.blocks[at] as Block).first >= to) break;
      await this.#read(at);
      for (let i = this.#firstFrom(from); i < this.#count; i++) {
        const key = this.#keyAt(i);
        if (key >= to) return found;
        found.push({ key, slot: this.#block.readUInt32LE(i * ENTRY_BYTES + 8) });
      }
    }
    return found;
  }

  get #count(): number {
    return this.#block.length / ENTRY_BYTES;
  }

  #keyAt(i: number): number {
    return this.#block.readDoubleLE(i * ENTRY_BYTES);
  }

  /** Finds the last block that begins with this key or a smaller one. */
  #blockOf(key: number): number {
    const { blocks } = this;
    const behind = firstThat(blocks.length, (at) => (blocks[at] as Block).first > key);
    return Math.max(0, behind - 1);
  }

  #firstFrom(key: number): number {
    return firstThat(this.#count, (i) => this.#keyAt(i) >= key);
  }

  async #read(at: number): Promise<void> {
    if (this.#at === at) return;
    const buffer = Buffer.allocUnsafe(BLOCK_ENTRIES * ENTRY_BYTES);
    const { bytesRead } = await this.file.read(buffer, 0, buffer.length, at * buffer.length);
    const block = buffer.subarray(0, bytesRead);
    if (sha256Of(block) !== this.blocks[at]?.sha256) throw new Error("the snapshot's keys are damaged");
    this.#block = block;
    this.#at = at;
  }
}

/**
 * Finds the first number below `count` for which `holds` is true, as for all numbers after it, else
 * returns `count`.
 */
function firstThat(count: number, holds: (i: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
