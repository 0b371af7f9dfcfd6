import { crc32 } from "node:zlib";
import { hasText, hasVectors, type What } from "../memory/ports/log.js";
import { toBytes } from "./vector.js";

/**
 * CRC-32 of an entry's parts, written with it, to notice damage that leaves the form whole. Each part
 * that can be read alone has one.
 */
export interface Sums {
  readonly head: number;
  /** Checksum of the part of the head that is erased with a memory; absent if it has none. */
  readonly label?: number;
  readonly text?: number;
  readonly vectors?: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** Computes the checksums of an entry. */
export function sumsOf(entry: Fields): Sums {
  if (entry.op !== "store") return { head: headOf(entry) };
  const label = labelOf(entry);
  const sums = { head: headOf(entry), text: textOf(entry), vectors: vectorsOf(entry) };
  return label === undefined ? sums : { ...sums, label };
}

/** Tells whether the parts that were read agree with the checksums. */
export function agrees(entry: Fields, what: What, sums: unknown): boolean {
  const written = (sums ?? {}) as Partial<Sums>;
  if (written.head !== headOf(entry)) return false;
  if (entry.op !== "store") return true;
  if (written.label !== labelOf(entry)) return false;
  if (hasText(what) && written.text !== textOf(entry)) return false;
  return !hasVectors(what) || written.vectors === vectorsOf(entry);
}

/** Computes the checksum of an entry's head, which erasing a memory does not change. */
function headOf({ op, opId, id, tokens, createdAtMs, updatedAtMs, target, to, ...more }: Fields): number {
  const kind = op === "erased" ? "store" : op;
  const { replaces, supersedes } = more;
  const head = [kind, opId, id, tokens, createdAtMs, updatedAtMs, target, to, replaces, supersedes];
  return crc32(JSON.stringify(head));
}

function labelOf({ externalId, expiresAtMs }: Fields): number | undefined {
  if (externalId === undefined && expiresAtMs === undefined) return undefined;
  return crc32(JSON.stringify([externalId, expiresAtMs]));
}

function textOf({ text, metadata }: Fields): number {
  return crc32(`${text}\n${metadata}`);
}

function vectorsOf({ vectors, windows }: Fields): number {
  const before = windows === undefined ? 0 : crc32(JSON.stringify(windows));
  return crc32(toBytes(vectors as Float32Array), before);
}
