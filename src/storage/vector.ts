/**
 * Converts a vector to bytes, float32 little endian. No byte is swapped: every processor that the model
 * and the index run on is little endian.
 */
export function toBytes(vector: Float32Array): Buffer {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
}

/**
 * Copies a vector out of a database's bytes, which its next read overwrites and which may start
 * anywhere. Returns undefined when they are not a vector.
 */
export function toVector(bytes: unknown): Float32Array | undefined {
  if (!(bytes instanceof Uint8Array) || bytes.byteLength % Float32Array.BYTES_PER_ELEMENT !== 0)
    return undefined;
  return new Float32Array(new Uint8Array(bytes).buffer);
}
