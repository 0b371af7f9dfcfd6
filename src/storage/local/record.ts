import type { Appended, Entry } from "../../memory/log.js";
import { intact, unreadable } from "../intact.js";
import { toBytes, toVector } from "../vector.js";

const LENGTH_BYTES = 4;

/**
 * An entry's bytes: the length of the header (uint32, little endian), the header (JSON of all fields
 * but the vectors), the vectors (float32, little endian; nothing when the entry has none).
 */
export function encode(entry: Appended): Buffer {
  const { vectors = new Float32Array(), ...fields } = entry as Partial<Record<"vectors", Float32Array>>;
  const header = Buffer.from(JSON.stringify(fields));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(header.byteLength);
  return Buffer.concat([length, header, toBytes(vectors)]);
}

export function decode(record: Buffer): Entry {
  try {
    const vectorFrom = LENGTH_BYTES + record.readUInt32LE();
    const fields = JSON.parse(record.toString("utf8", LENGTH_BYTES, vectorFrom));
    if (record.byteLength > vectorFrom) fields.vectors = toVector(record.subarray(vectorFrom));
    return intact(fields);
  } catch (error) {
    return unreadable(error);
  }
}
