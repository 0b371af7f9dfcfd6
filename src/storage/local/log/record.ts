import {
  type Appended,
  type Entry,
  hasText,
  hasVectors,
  type Projection,
} from "../../../memory/ports/log.js";
import { intact, sumsOf, unreadable } from "../../intact.js";
import { toBytes, toVector } from "../../vector.js";

const LENGTH_BYTES = 4;

/**
 * Encodes an entry: the length of the header (uint32, little endian), the header (JSON of all fields
 * except the vectors, and checksums), the vectors (float32, little endian; empty when the entry has
 * none).
 */
export function encode(entry: Appended): Buffer {
  const { vectors = new Float32Array(), ...fields } = entry as Partial<Record<"vectors", Float32Array>>;
  const header = Buffer.from(JSON.stringify({ ...fields, sums: sumsOf({ ...entry }) }));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(header.byteLength);
  return Buffer.concat([length, header, toBytes(vectors)]);
}

/** Decodes the parts of an entry that were asked for; other vectors are not copied. */
export function decode<W extends Projection>(record: Buffer, what: W): Entry<W> {
  try {
    const vectorFrom = LENGTH_BYTES + record.readUInt32LE();
    const fields = JSON.parse(record.toString("utf8", LENGTH_BYTES, vectorFrom));
    const hasMore = record.byteLength > vectorFrom;
    if (hasMore && hasVectors(what)) fields.vectors = toVector(record.subarray(vectorFrom));
    return intact(fields.op === "store" ? asked(fields, what) : fields, what);
  } catch (error) {
    return unreadable(error);
  }
}

/** Returns a memory's fields without those that were not asked for. */
function asked(fields: Record<string, unknown>, what: Projection): Record<string, unknown> {
  if (hasText(what) && (hasVectors(what) || fields.windows === undefined)) return fields;
  const { text, metadata, windows, ...rest } = fields;
  return {
    ...rest,
    ...(hasText(what) && { text, metadata }),
    ...(hasVectors(what) && windows !== undefined && { windows }),
  };
}
