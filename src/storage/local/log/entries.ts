import type { Database, RootDatabase } from "lmdb";
import {
  type Appended,
  type Entry,
  hasText,
  hasVectors,
  type Projection,
} from "../../../memory/ports/log.js";
import { intact, lost, sumsOf, toBytes, toVector, unreadable } from "../../intact.js";
import { durably, reading } from "../durably.js";

export type Key = [logId: string, sequence: number];

/** The entries of all logs, and the appends that are not on the disk yet. */
export class Entries {
  readonly db: Database<Buffer, Key>;
  /** Latest append to each log that is not on the disk yet. */
  readonly #appending = new Map<string, Promise<number>>();

  constructor(root: RootDatabase) {
    this.db = root.openDB("log", { encoding: "binary" });
  }

  /** Returns the entry with this number, or a placeholder if it is missing and later ones exist. */
  get<W extends Projection>(key: Key, projection: W): Entry<W> | undefined {
    // The buffer is the database's own, and its next read overwrites it; decoding copies what it keeps.
    const record = this.db.getBinaryFast(key);
    if (record !== undefined) return decode(record.subarray(0, record.length), projection);
    return this.#isBeforeOthers(key) ? lost("it is missing") : undefined;
  }

  /** Appends to a log in a transaction; `settled` waits for it. */
  async append(logId: string, insert: () => number): Promise<number> {
    const appending = durably(this.db, insert);
    this.#appending.set(logId, appending);
    try {
      return await appending;
    } finally {
      if (this.#appending.get(logId) === appending) this.#appending.delete(logId);
    }
  }

  /** Waits until the disk has what was read: a committed entry is visible before it is on the disk. */
  async settled<T>(logId: string, read: () => T): Promise<T> {
    const found = reading(read);
    await this.#appending.get(logId);
    return found;
  }

  #isBeforeOthers([logId, sequence]: Key): boolean {
    const end: Key = [logId, Number.MAX_SAFE_INTEGER];
    return this.db.getKeysCount({ start: [logId, sequence], end, limit: 1 }) > 0;
  }
}

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
export function decode<W extends Projection>(record: Buffer, projection: W): Entry<W> {
  try {
    const vectorFrom = LENGTH_BYTES + record.readUInt32LE();
    const fields = JSON.parse(record.toString("utf8", LENGTH_BYTES, vectorFrom));
    const hasMore = record.byteLength > vectorFrom;
    if (hasMore && hasVectors(projection)) fields.vectors = toVector(record.subarray(vectorFrom));
    return intact(fields.op === "store" ? asked(fields, projection) : fields, projection);
  } catch (error) {
    return unreadable(error);
  }
}

/** Returns a memory's fields without those that were not asked for. */
function asked(fields: Record<string, unknown>, projection: Projection): Record<string, unknown> {
  if (hasText(projection) && (hasVectors(projection) || fields.windows === undefined)) return fields;
  const { text, metadata, windows, ...rest } = fields;
  return {
    ...rest,
    ...(hasText(projection) && { text, metadata }),
    ...(hasVectors(projection) && windows !== undefined && { windows }),
  };
}
