/** Capacity of an array with anything in it. */
const CAPACITY_MIN = 8;

/** Returns the array, or a longer copy of it that has room for `length` numbers. */
export function grown<A extends Uint32Array | Float64Array>(array: A, length: number): A {
  if (length <= array.length) return array;
  const capacity = Math.max(CAPACITY_MIN, Math.ceil(length * 1.5));
  const larger = new (array.constructor as new (length: number) => A)(capacity);
  larger.set(array);
  return larger;
}
