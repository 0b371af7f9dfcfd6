import { CONTAINER, type Value } from "../../memory/ports/condition.js";

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

const TEXT = new TextEncoder();
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
  if (typeof value === "string") return joined(kind, TEXT.encode(value));
  if (typeof value === "number") {
    const key = new Uint8Array(9);
    key[0] = kind;
    writeNumber(key, 1, value);
    return key;
  }
  return value === CONTAINER ? Uint8Array.of(kind) : Uint8Array.of(kind, constantOf(value));
}

export function constantOf(value: Value): number {
  return CONSTANTS.indexOf(value);
}

/** Writes a number in eight bytes whose order is that of the numbers. Both zeros are one. */
export function writeNumber(bytes: Uint8Array, at: number, value: number): void {
  eight.setFloat64(0, value + 0);
  const high = eight.getUint32(0);
  const isNegative = high >= SIGN;
  // The bits of negative numbers grow as the numbers fall.
  eight.setUint32(0, isNegative ? ~high : high + SIGN);
  if (isNegative) eight.setUint32(4, ~eight.getUint32(4));
  for (let i = 0; i < 8; i++) bytes[at + i] = eight.getUint8(i);
}

/** Returns a key with a byte behind it. A zero makes the next key in order. */
export function followedBy(key: Uint8Array, byte: number): Uint8Array {
  const longer = new Uint8Array(key.length + 1);
  longer.set(key);
  longer[key.length] = byte;
  return longer;
}

function joined(kind: number, bytes: Uint8Array): Uint8Array {
  const key = new Uint8Array(1 + bytes.length);
  key[0] = kind;
  key.set(bytes, 1);
  return key;
}
