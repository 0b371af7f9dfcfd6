import { crc32 } from "node:zlib";
import { type Entry, hasText, hasVectors, type Lost, type Projection } from "../memory/ports/log.js";

/**
 * CRC-32 of an entry's parts, written with it, to notice damage. Each part that can be read alone has one, and all
 * fields are in one of them.
 */
export interface Sums {
  readonly head: number;
  /** Checksum of the part of the head that is erased with a memory; absent if it has none. */
  readonly label?: number;
  readonly text?: number;
  readonly vectors?: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** Fields that only a memory may have: the checksum of what is left of an erased one says nothing about them. */
const CONTENT = ["text", "metadata", "vectors", "windows", "externalId"];

/** Returns the entry without its checksums if it agrees with them; otherwise a placeholder for a damaged one. */
export function intact<W extends Projection>(given: Fields, projection: W): Entry<W> {
  const { sums, ...read } = given;
  const left = read.op === "store" ? [] : CONTENT.filter((name) => name in read);
  if (left.length > 0) return lost(`it still holds the ${left.join(", ")} it should not have`);
  if (!agrees(read, projection, sums)) return lost("its checksum does not match");
  return read as unknown as Entry<W>;
}

export function lost(reason: string): Lost {
  return { op: "lost", opId: "", reason };
}

/**
 * Makes a placeholder without the error's words: a parser's words quote what it read, which is a
 * caller's text.
 */
export function unreadable(error: unknown): Lost {
  return lost(`it is unreadable (${error instanceof Error ? error.name : typeof error})`);
}

export function sumsOf(entry: Fields): Sums {
  const head = headOf(entry);
  if (entry.op !== "store") return { head };
  const label = labelOf(entry);
  const [text, vectors] = [textOf(entry), vectorsOf(entry)];
  return label === undefined ? { head, text, vectors } : { head, label, text, vectors };
}

/** True if the parts that were read agree with the checksums. */
function agrees(entry: Fields, projection: Projection, sums: unknown): boolean {
  const written = (sums ?? {}) as Partial<Sums>;
  if (written.head !== headOf(entry)) return false;
  if (entry.op !== "store") return true;
  if (written.label !== labelOf(entry)) return false;
  if (hasText(projection) && written.text !== textOf(entry)) return false;
  return !hasVectors(projection) || written.vectors === vectorsOf(entry);
}

/** Computes the checksum of an entry's head, which erasing a memory does not change. */
function headOf({ op, opId, id, tokens, createdAtMs, updatedAtMs, target, to, ...more }: Fields): number {
  const kind = op === "erased" ? "store" : op;
  const { replaces, supersedes } = more;
  const head = [kind, opId, id, tokens, createdAtMs, updatedAtMs, target, to, replaces, supersedes];
  return crc32(JSON.stringify(head));
}

function labelOf({ externalId, expiresAtMs, eventAtMs }: Fields): number | undefined {
  if (externalId === undefined && expiresAtMs === undefined && eventAtMs === undefined) return undefined;
  return crc32(JSON.stringify([externalId, expiresAtMs, eventAtMs]));
}

function textOf({ text, metadata }: Fields): number {
  return crc32(`${text}\n${metadata}`);
}

function vectorsOf({ vectors, windows }: Fields): number {
  const before = windows === undefined ? 0 : crc32(JSON.stringify(windows));
  return crc32(toBytes(vectors as Float32Array), before);
}

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
