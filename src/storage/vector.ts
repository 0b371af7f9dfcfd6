/**
 * A vector's bytes, float32 little endian, and back. No byte is swapped: every processor that the
 * model and the index run on is little endian.
 */
export function toBytes(vector: Float32Array): Buffer {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
}

/**
 * A vector of its own: a database's bytes are overwritten by its next read, and start anywhere.
 * Undefined when these are no vector's bytes.
 */
export function toVector(bytes: unknown): Float32Array | undefined {
  if (!(bytes instanceof Uint8Array) || bytes.byteLength % Float32Array.BYTES_PER_ELEMENT !== 0)
    return undefined;
  return new Float32Array(new Uint8Array(bytes).buffer);
}
