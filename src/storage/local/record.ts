import type { Appended, Entry, Erased } from "../../memory/log.js";
import { intact, lost } from "../intact.js";
import { toBytes, toVector } from "../vector.js";

const LENGTH_BYTES = 4;

/**
 * An entry's bytes: the length of the header (uint32, little endian), the header (JSON of all fields
 * but the vector), the vector (float32, little endian; nothing when the entry has none).
 */
export function encode(entry: Appended | Erased): Buffer {
  const { vector = new Float32Array(), ...fields } = entry as Partial<Record<"vector", Float32Array>>;
  const header = Buffer.from(JSON.stringify(fields));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(header.byteLength);
  return Buffer.concat([length, header, toBytes(vector)]);
}

export function decode(record: Buffer): Entry {
  try {
    const vectorFrom = LENGTH_BYTES + record.readUInt32LE();
    const fields = JSON.parse(record.toString("utf8", LENGTH_BYTES, vectorFrom));
    if (record.byteLength > vectorFrom) fields.vector = toVector(record.subarray(vectorFrom));
    return intact(fields);
  } catch (error) {
    return lost(`it is unreadable: ${String(error)}`);
  }
}
