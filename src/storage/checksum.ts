import { crc32 } from "node:zlib";
import { hasText, hasVectors, type What } from "../memory/ports/log.js";
import { toBytes } from "./vector.js";

/**
 * CRC-32 of an entry's parts, written with it, to notice damage that leaves the form whole. Each part
 * that can be read alone has one. Older entries have none.
 */
export interface Sums {
  readonly head: number;
  readonly text?: number;
  readonly vectors?: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** Computes the checksums of an entry. */
export function sumsOf(entry: Fields): Sums {
  if (entry.op !== "store") return { head: headOf(entry) };
  return { head: headOf(entry), text: textOf(entry), vectors: vectorsOf(entry) };
}

/** Tells whether the parts that were read agree with the checksums. */
export function agrees(entry: Fields, what: What, sums: unknown): boolean {
  const written = (sums ?? {}) as Partial<Sums>;
  if (written.head !== headOf(entry)) return false;
  if (entry.op !== "store") return true;
  if (hasText(what) && written.text !== textOf(entry)) return false;
  return !hasVectors(what) || written.vectors === vectorsOf(entry);
}

/** Computes the checksum of an entry's head, which erasing a memory does not change. */
function headOf({ op, opId, id, tokens, createdAtMs, target, to }: Fields): number {
  const kind = op === "erased" ? "store" : op;
  return crc32(`${kind}\n${opId}\n${id}\n${tokens}\n${createdAtMs}\n${target}\n${to}`);
}

function textOf({ text, metadata }: Fields): number {
  return crc32(`${text}\n${metadata}`);
}

function vectorsOf({ vectors, windows }: Fields): number {
  const before = windows === undefined ? 0 : crc32(JSON.stringify(windows));
  return crc32(toBytes(vectors as Float32Array), before);
}
