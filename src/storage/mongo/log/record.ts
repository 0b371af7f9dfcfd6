import { Binary } from "mongodb";
import { byteLengthOf } from "../../../memory/ports/bounds.js";
import type { Window } from "../../../memory/ports/embedder.js";
import {
  type Appended,
  type Entry,
  hasText,
  hasVectors,
  type Projection,
  type Stored,
} from "../../../memory/ports/log.js";
import { intact, type Sums, sumsOf, unreadable } from "../../intact.js";
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
  readonly updatedAt?: Date;
  readonly replaces?: number;
  readonly supersedes?: readonly number[];
  readonly externalId?: string;
  readonly expiresAt?: Date;
  readonly eventAt?: Date;
  readonly target?: number;
  readonly to?: string;
  readonly sums?: Sums;
  /** The numbers of the memories that it replaces, supersedes or deletes. */
  readonly follows?: readonly number[];
  /** The operation that wrote it, if that is not the one that stored the memory first. */
  readonly operation?: string;
  /** The number of the memory that it replaces, until that is erased. */
  readonly unerased?: number;
  /** True if it supersedes memories, or expires. */
  readonly special?: true;
}

export function toRecord(_id: string, entry: Appended): EntryRecord {
  return { ...recordOf(_id, entry), ...indexedOf(entry), sums: sumsOf({ ...entry }) };
}

function recordOf(_id: string, entry: Appended): EntryRecord {
  if (entry.op !== "store" && entry.op !== "erased") return { _id, ...entry };
  const { createdAtMs, updatedAtMs, expiresAtMs, eventAtMs, ...fields } = entry as Omit<Stored, "op"> & {
    op: string;
  };
  const times = {
    createdAt: new Date(createdAtMs),
    ...(updatedAtMs !== undefined && { updatedAt: new Date(updatedAtMs) }),
    ...(expiresAtMs !== undefined && { expiresAt: new Date(expiresAtMs) }),
    ...(eventAtMs !== undefined && { eventAt: new Date(eventAtMs) }),
  };
  if (entry.op === "erased") return { _id, ...fields, ...times };
  const { vectors, ...rest } = fields;
  return { _id, ...rest, bytes: byteLengthOf(rest), vector: new Binary(toBytes(vectors)), ...times };
}

/** Makes the fields that only indexes need. */
function indexedOf(entry: Appended) {
  if (entry.op === "delete") return { follows: [entry.target] };
  if (entry.op !== "store" && entry.op !== "erased") return {};
  const { opId, id, replaces, supersedes = [] } = entry;
  const expires = entry.op === "store" && entry.expiresAtMs !== undefined;
  const follows = replaces === undefined ? supersedes : [replaces, ...supersedes];
  return {
    ...(follows.length > 0 && { follows }),
    ...(opId !== id && { operation: opId }),
    ...(entry.op === "store" && replaces !== undefined && { unerased: replaces }),
    ...((expires || supersedes.length > 0) && ({ special: true } as const)),
  };
}

/** Converts a document that was read with `projectionOf(what)`. */
export function fromRecord<W extends Projection>(record: EntryRecord, what: W): Entry<W> {
  const { _id, vector, bytes, createdAt, updatedAt, expiresAt, eventAt, ...rest } = record;
  const { follows, operation, unerased, special, ...fields } = rest;
  try {
    const read = {
      ...fields,
      ...(vector && { vectors: toVector(vector.value()) }),
      ...(createdAt && { createdAtMs: createdAt.getTime() }),
      ...(updatedAt && { updatedAtMs: updatedAt.getTime() }),
      ...(expiresAt && { expiresAtMs: expiresAt.getTime() }),
      ...(eventAt && { eventAtMs: eventAt.getTime() }),
    };
    return intact(read, what);
  } catch (error) {
    return unreadable(error);
  }
}

/** Makes a projection that omits what is not asked for, so that the database does not send it. */
export function projectionOf(what: Projection): Record<string, 0> {
  return {
    ...(!hasText(what) && ({ text: 0, metadata: 0, bytes: 0 } as const)),
    ...(!hasVectors(what) && ({ vector: 0, windows: 0 } as const)),
  };
}
