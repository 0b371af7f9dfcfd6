import { Binary } from "mongodb";
import type { Window } from "../../../memory/ports/embedder.js";
import { type Appended, type Entry, hasText, hasVectors, type What } from "../../../memory/ports/log.js";
import { type Sums, sumsOf } from "../../checksum.js";
import { intact, unreadable } from "../../intact.js";
import { toBytes, toVector } from "../../vector.js";

/** An entry as a document: the vector is plain binary, the time a date. */
export interface EntryRecord {
  readonly _id: string;
  readonly op: string;
  readonly opId: string;
  readonly id?: string;
  readonly text?: string;
  readonly metadata?: string;
  /** One vector, or one for each window, one after the other. */
  readonly vector?: Binary;
  readonly windows?: readonly Window[];
  /** Length of text and metadata in bytes, so that counting reads no text. */
  readonly bytes?: number;
  readonly tokens?: number;
  readonly createdAt?: Date;
  readonly target?: number;
  readonly to?: string;
  readonly sums?: Sums;
}

export function toRecord(_id: string, entry: Appended): EntryRecord {
  return { ...recordOf(_id, entry), sums: sumsOf({ ...entry }) };
}

function recordOf(_id: string, entry: Appended): EntryRecord {
  if (entry.op === "erased") {
    const { createdAtMs, ...fields } = entry;
    return { _id, ...fields, createdAt: new Date(createdAtMs) };
  }
  if (entry.op !== "store") return { _id, ...entry };
  const { vectors, createdAtMs, ...fields } = entry;
  const bytes = Buffer.byteLength(fields.text) + Buffer.byteLength(fields.metadata);
  return { _id, ...fields, bytes, vector: new Binary(toBytes(vectors)), createdAt: new Date(createdAtMs) };
}

/** Converts a document that was read with `projectionOf(what)`. */
export function fromRecord<W extends What>(record: EntryRecord, what: W): Entry<W> {
  const { _id, vector, bytes, createdAt, ...fields } = record;
  try {
    const read = {
      ...fields,
      ...(vector && { vectors: toVector(vector.value()) }),
      ...(createdAt && { createdAtMs: createdAt.getTime() }),
    };
    return intact(read, what);
  } catch (error) {
    return unreadable(error);
  }
}

/** Makes a projection that omits what is not asked for, so that the database does not send it. */
export function projectionOf(what: What): Record<string, 0> {
  return {
    ...(!hasText(what) && ({ text: 0, metadata: 0, bytes: 0 } as const)),
    ...(!hasVectors(what) && ({ vector: 0, windows: 0 } as const)),
  };
}
