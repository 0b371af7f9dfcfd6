/** Share by which an array grows, beyond what is needed now. */
const SLACK = 1.25;

/** Returns the array, or a longer copy of it that has room for `length` numbers. */
export function grown<A extends Uint8Array | Uint16Array | Uint32Array>(array: A, length: number): A {
  if (length <= array.length) return array;
  const larger = new (array.constructor as new (length: number) => A)(Math.ceil(length * SLACK));
  larger.set(array);
  return larger;
}
