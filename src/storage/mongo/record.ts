import { Binary } from "mongodb";
import type { Appended, Entry } from "../../memory/log.js";
import { intact, lost } from "../intact.js";
import { toBytes, toVector } from "../vector.js";

/** An entry as a document: the vector as plain binary, the time as a date. */
export interface EntryRecord {
  readonly _id: string;
  readonly op: string;
  readonly opId: string;
  readonly id?: string;
  readonly text?: string;
  readonly metadata?: string;
  readonly vector?: Binary;
  readonly tokens?: number;
  readonly createdAt?: Date;
  readonly target?: number;
}

export function toRecord(_id: string, entry: Appended): EntryRecord {
  if (entry.op !== "store") return { _id, ...entry };
  const { vector, createdAtMs, ...fields } = entry;
  return { _id, ...fields, vector: new Binary(toBytes(vector)), createdAt: new Date(createdAtMs) };
}

export function fromRecord({ _id, vector, createdAt, ...fields }: EntryRecord): Entry {
  try {
    return intact({
      ...fields,
      ...(vector && { vector: toVector(vector.value()) }),
      ...(createdAt && { createdAtMs: createdAt.getTime() }),
    });
  } catch (error) {
    return lost(`it is unreadable: ${String(error)}`);
  }
}
