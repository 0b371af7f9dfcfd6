/** Room for gathering, which is only used between two pauses. */
let bytes = new ArrayBuffer(0);

/**
 * Copies some rows, end to end, into memory that the next call overwrites. It begins where its buffer begins, as
 * USearch needs it.
 */
export function gather<T extends Float32Array | Int8Array>(all: T, rows: Uint32Array, dimensions: number): T {
  const length = rows.length * dimensions;
  if (bytes.byteLength < length * all.BYTES_PER_ELEMENT)
    bytes = new ArrayBuffer(length * all.BYTES_PER_ELEMENT);
  const gathered = new (all.constructor as new (buffer: ArrayBuffer, offset: number, length: number) => T)(
    bytes,
    0,
    length,
  );
  for (let i = 0; i < rows.length; ) {
    const first = rows[i] as number;
    let run = 1;
    while (rows[i + run] === first + run) run++;
    gathered.set(all.subarray(first * dimensions, (first + run) * dimensions), i * dimensions);
    i += run;
  }
  return gathered;
}
