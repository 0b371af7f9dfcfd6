import { Binary } from "mongodb";
import { byteLengthOf } from "../../../memory/ports/bounds.js";
import {
  type Appended,
  type Entry,
  hasText,
  hasVectors,
  type Projection,
  type Stored,
} from "../../../memory/ports/log.js";
import { intact, type Sums, sumsOf, toBytes, toVector, unreadable } from "../../intact.js";

/** An entry as a document: its fields, but for the vectors, and those that only indexes need. */
export interface EntryRecord extends Partial<Omit<Stored, "op" | "vectors">> {
  readonly _id: string;
  readonly op: string;
  readonly opId: string;
  /** The vectors as plain binary, one after the other. */
  readonly vector?: Binary;
  /** Length of text and metadata in bytes, so that counting reads no text. */
  readonly bytes?: number;
  readonly target?: number;
  readonly to?: string;
  readonly sums?: Sums;
  /** The numbers of the memories that it replaces, supersedes or deletes. */
  readonly follows?: readonly number[];
  /** The operation that wrote it, if that is not the one that stored the memory first. */
  readonly operation?: string;
  /** The number of the memory that it replaces or deletes, until that is erased. */
  readonly unerased?: number;
  /** True if it supersedes memories, or expires. */
  readonly supersedesOrExpires?: true;
}

export function toRecord(_id: string, entry: Appended): EntryRecord {
  const added = { _id, ...indexedOf(entry), sums: sumsOf({ ...entry }) };
  if (entry.op !== "store") return { ...entry, ...added };
  const { vectors, ...fields } = entry;
  return { ...fields, ...added, bytes: byteLengthOf(fields), vector: new Binary(toBytes(vectors)) };
}

/** Makes the fields that only indexes need. */
function indexedOf(entry: Appended) {
  if (entry.op === "delete") return { follows: [entry.target], unerased: entry.target };
  if (entry.op !== "store" && entry.op !== "erased") return {};
  const { opId, id, replaces, supersedes = [] } = entry;
  const expires = entry.op === "store" && entry.expiresAtMs !== undefined;
  const follows = replaces === undefined ? supersedes : [replaces, ...supersedes];
  return {
    ...(follows.length > 0 && { follows }),
    ...(opId !== id && { operation: opId }),
    ...(entry.op === "store" && replaces !== undefined && { unerased: replaces }),
    ...((expires || supersedes.length > 0) && ({ supersedesOrExpires: true } as const)),
  };
}

/** Converts a document that was read with `projectionOf(what)`. */
export function fromRecord<W extends Projection>(record: EntryRecord, projection: W): Entry<W> {
  const { _id, vector, bytes, follows, operation, unerased, supersedesOrExpires, ...fields } = record;
  try {
    return intact(vector ? { ...fields, vectors: toVector(vector.value()) } : fields, projection);
  } catch (error) {
    return unreadable(error);
  }
}

/** Makes a projection that omits what is not asked for, so that the database does not send it. */
export function projectionOf(projection: Projection): Record<string, 0> {
  return {
    ...(!hasText(projection) && ({ text: 0, metadata: 0, bytes: 0 } as const)),
    ...(!hasVectors(projection) && ({ vector: 0, windows: 0 } as const)),
  };
}
