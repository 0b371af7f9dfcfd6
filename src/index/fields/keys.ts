import { CONTAINER, type Value } from "../../memory/ports/condition.js";
import type { Lists } from "../rows/inverted.js";

/**
 * First byte of a node's key. No text has one of these bytes in UTF-8. At a path, values come before the paths
 * below it. A value alone and the same value as an element of an array are two nodes, because `$contains` tells
 * them apart.
 */
export const KIND = {
  /** An array or object: it exists, and equals nothing. */
  container: 0xf5,
  /** `null`, `false` or `true`, as one byte. */
  constant: 0xf6,
  /** A double in eight bytes that are in the order of the numbers. */
  number: 0xf8,
  text: 0xfa,
  /** A key of an object. */
  path: 0xfc,
  externalId: 0xfd,
} as const;

/** Added to the kind of a constant, a number or a text that is an element of an array. */
export const ELEMENT = 1;

const CONSTANTS: readonly Value[] = [null, false, true];
const SIGN = 0x8000_0000;
const eight = new DataView(new ArrayBuffer(8));

/** Returns the kind of a value's key. */
export function kindOf(value: Value, isElement: boolean): number {
  if (value === CONTAINER) return KIND.container;
  const alone =
    typeof value === "string" ? KIND.text : typeof value === "number" ? KIND.number : KIND.constant;
  return alone + Number(isElement) * ELEMENT;
}

/** Makes the key of a value, or of a key of an object or its beginning: its kind, and bytes in its order. */
export function keyOf(kind: number, value: Value): Uint8Array {
  const key = Buffer.allocUnsafe(
    1 + (typeof value === "string" ? Buffer.byteLength(value) : VALUE_BYTES_MAX),
  );
  return key.subarray(0, writeKey(key, 0, { kind, value }));
}

export function constantOf(value: Value): number {
  return CONSTANTS.indexOf(value);
}

/** Returns a key with a byte behind it. A zero makes the next key in order. */
export function followedBy(key: Uint8Array, byte: number): Uint8Array {
  return Buffer.concat([key, Uint8Array.of(byte)]);
}

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
  /** The keys: kind and bytes. */
  readonly keys: Uint8Array;
}

/** True if a node is a path; others are values. */
export function isPath({ keys, starts }: Pick<Nodes, "keys" | "starts">, node: number): boolean {
  return (keys[starts[node] as number] as number) >= KIND.path;
}

/** Most bytes of a value that is no text. */
const VALUE_BYTES_MAX = 8;
/** Most bytes in UTF-8 of one code unit. */
const UNIT_BYTES_MAX = 3;
/** A text with so few code units is written one by one if all are ASCII: a call of Node takes longer. */
const SHORT_TEXT = 24;

/** Writes the nodes of a tree of one row, one behind the other: each node has it, or one child at least. */
export class NodeWriter {
  readonly #parents: number[] = [];
  readonly #starts = [0];
  #keys = Buffer.allocUnsafe(512);
  #end = 0;

  /** Adds a node; returns one more than its number, which its children have as their parent. */
  add(parent: number, kind: number, value: Value): number {
    const isText = typeof value === "string";
    this.#reserve(1 + (isText ? UNIT_BYTES_MAX * value.length : VALUE_BYTES_MAX));
    this.#end = writeKey(this.#keys, this.#end, { kind, value });
    this.#starts.push(this.#end);
    return this.#parents.push(parent);
  }

  finished(): Nodes {
    const [parents, starts] = [new Uint32Array(this.#parents), new Uint32Array(this.#starts)];
    const keys = new Uint8Array(this.#keys.subarray(0, this.#end));
    const offsets = new Uint32Array(starts.length);
    for (let node = 0; node < parents.length; node++) {
      offsets[node + 1] = (offsets[node] as number) + (isPath({ keys, starts }, node) ? 0 : 1);
    }
    // Each value has the first row, and only that.
    const postings = new Uint32Array(offsets[parents.length] as number);
    return { parents, starts, keys, counts: new Uint32Array(parents.length).fill(1), offsets, postings };
  }

  #reserve(more: number): void {
    if (this.#end + more <= this.#keys.length) return;
    const longer = Buffer.allocUnsafe(2 * this.#keys.length + more);
    this.#keys.copy(longer, 0, 0, this.#end);
    this.#keys = longer;
  }
}

/** Writes the key of a value from a place on; returns the place behind it. */
function writeKey(bytes: Buffer, at: number, { kind, value }: { kind: number; value: Value }): number {
  bytes[at] = kind;
  const begin = at + 1;
  if (typeof value === "string") return begin + writeText(bytes, begin, value);
  if (value === CONTAINER) return begin;
  if (typeof value === "number") {
    writeNumber(bytes, begin, value);
    return begin + 8;
  }
  bytes[begin] = constantOf(value);
  return begin + 1;
}

function writeText(bytes: Buffer, at: number, text: string): number {
  if (text.length > SHORT_TEXT) return bytes.write(text, at);
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7f) return bytes.write(text, at);
    bytes[at + i] = unit;
  }
  return text.length;
}

/** Writes a number in eight bytes whose order is that of the numbers. Both zeros are one. */
function writeNumber(bytes: Uint8Array, at: number, value: number): void {
  eight.setFloat64(0, value + 0);
  const high = eight.getUint32(0);
  const isNegative = high >= SIGN;
  // The bits of negative numbers grow as the numbers fall.
  eight.setUint32(0, isNegative ? ~high : high + SIGN);
  if (isNegative) eight.setUint32(4, ~eight.getUint32(4));
  for (let i = 0; i < 8; i++) bytes[at + i] = eight.getUint8(i);
}
