import { readSync } from "node:fs";

/** Offsets and values of `struct MDB_page_header` and `MDB_node` in mdb.c of lmdb-js 3.5.6. */
export const HEADER_BYTES = 24;
const TRANSACTION_AT = 8;
export const FLAGS_AT = 18;
const LOWER_AT = 20;
const UPPER_AT = 22;
const IS_BRANCH = 0x01;
const IS_LEAF = 0x02;
const IS_OVERFLOW = 0x04;
const NODE_BYTES = 8;
/** Flag of a long value, which fills whole pages that the node names. */
const IS_LONG = 0x01;
const IS_TREE = 0x02;

/** A key of a page, with the location of its value or child. */
export interface Node {
  readonly key: Buffer;
  /** Number of the child page; on branch pages only. */
  readonly child: number;
  readonly isLong: boolean;
  readonly isTree: boolean;
  /** Length of the value, which for a long value differs from that of `data`. */
  readonly bytes: number;
  readonly data: Buffer;
}

interface Expected {
  readonly page: number;
  readonly transaction: number;
  readonly kind: "branch" | "leaf";
}

/** Reads the nodes of a branch or leaf page. @throws DamageError when it is not such a page, or not whole. */
export function nodesOf(bytes: Buffer, { page, transaction, kind }: Expected): Node[] {
  expectHeader(bytes, { page, transaction, flags: kind === "branch" ? IS_BRANCH : IS_LEAF });
  const lower = bytes.readUInt16LE(LOWER_AT);
  const upper = bytes.readUInt16LE(UPPER_AT);
  if (lower > upper || upper > bytes.byteLength - HEADER_BYTES || lower % 2 !== 0) throw damaged(page);
  return Array.from({ length: lower / 2 }, (_, i) => {
    const at = bytes.readUInt16LE(HEADER_BYTES + 2 * i);
    const node = at < upper ? undefined : nodeAt(bytes, HEADER_BYTES + at, kind);
    if (node === undefined) throw damaged(page);
    return node;
  });
}

/** Checks a long value's first page. @throws DamageError when another page is found there. */
export function expectLong(
  bytes: Buffer,
  expected: { page: number; pages: number; transaction: number },
): void {
  expectHeader(bytes, { ...expected, flags: IS_OVERFLOW });
  if (bytes.readUInt32LE(LOWER_AT) !== expected.pages) throw damaged(expected.page);
}

export function damaged(page: number): DamageError {
  return new DamageError(`page ${page} is damaged`);
}

function expectHeader(bytes: Buffer, expected: { page: number; transaction: number; flags: number }): void {
  const is =
    bytes.readBigUInt64LE(0) === BigInt(expected.page) && bytes.readUInt16LE(FLAGS_AT) === expected.flags;
  if (!is || bytes.readBigUInt64LE(TRANSACTION_AT) > expected.transaction) throw damaged(expected.page);
}

/** Reads a node; returns undefined when it does not fit the page. */
function nodeAt(bytes: Buffer, at: number, kind: Expected["kind"]): Node | undefined {
  if (at + NODE_BYTES > bytes.byteLength) return undefined;
  const length = bytes.readUInt32LE(at);
  const flags = bytes.readUInt16LE(at + 4);
  const keyFrom = at + NODE_BYTES;
  const dataFrom = keyFrom + bytes.readUInt16LE(at + 6);
  const isLong = kind === "leaf" && (flags & IS_LONG) !== 0;
  const dataTo = dataFrom + (isLong ? HEADER_BYTES : kind === "leaf" ? length : 0);
  if (dataTo > bytes.byteLength) return undefined;
  if (kind === "leaf" && flags !== 0 && flags !== IS_LONG && flags !== IS_TREE) return undefined;
  return {
    key: bytes.subarray(keyFrom, dataFrom),
    isLong,
    isTree: kind === "leaf" && flags === IS_TREE,
    child: length + flags * 2 ** 32,
    bytes: length,
    data: bytes.subarray(dataFrom, dataTo),
  };
}

/** Damage of a database's file, in words for an operator. It never leaves this folder. */
export class DamageError extends Error {
  override readonly name = "DamageError";
}

/**
 * Reads pages of an LMDB file one by one. It does not map the file: reading a mapped page that does not
 * exist, or following a damaged pointer through one, ends the process by a signal.
 */
export class Pages {
  constructor(
    private readonly fd: number,
    /** Size of the file. */
    readonly fileBytes: number,
    readonly pageBytes: number,
  ) {}

  get count(): number {
    return Math.floor(this.fileBytes / this.pageBytes);
  }

  /** Reads a page, or its first bytes. @throws DamageError when the file ends before. */
  read(page: number, bytes = this.pageBytes): Buffer {
    const into = Buffer.allocUnsafe(bytes);
    if (readSync(this.fd, into, 0, bytes, page * this.pageBytes) === bytes) return into;
    throw new DamageError(`page ${page} lies behind the end of the file`);
  }
}
