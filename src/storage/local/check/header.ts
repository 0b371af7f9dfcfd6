import { readFileSync } from "node:fs";
import { DamageError, FLAGS_AT, HEADER_BYTES, Pages } from "./page.js";

/** A B+ tree, as its parent describes it. */
export interface Tree {
  readonly name: string;
  /** Number of levels; 0 when the tree is empty. */
  readonly depth: number;
  readonly root: number;
}

/** A snapshot of the database, with the roots of its two trees. */
export interface Meta {
  readonly pageBytes: number;
  readonly transaction: number;
  readonly lastPage: number;
  readonly trees: readonly Tree[];
  /** Whether it was written before its pages were known to be on the disk. */
  readonly unflushed: boolean;
  readonly bootId: bigint;
}

/** Offsets and values of `MDB_meta` and `MDB_db` in mdb.c of lmdb-js 3.5.6. */
const META_BYTES = HEADER_BYTES + 144;
const IS_META = 0x08;
const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
export const TREE_BYTES = 48;
const PAGE_BYTES_MIN = 512;
const PAGE_BYTES_MAX = 65_536;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;
const DEPTH_MAX = 32;
/** Number of the first page after the meta pages. */
export const FIRST_PAGE = 2;
/** Name of the tree that lists free pages. */
export const FREE = "of free pages";
const UNFLUSHED = 0x1000;
const INTEGER_KEYS = 0x08;
/**
 * Allowed flags: integer keys, and what lmdb-js sets for metrics, restore, overlapping flushes, and one
 * file instead of a folder.
 */
const FLAGS_ALLOWED = INTEGER_KEYS | 0x400 | 0x800 | UNFLUSHED | 0x4000;

/**
 * Reads the snapshots in a file, and returns its pages with the snapshot that LMDB will open.
 *
 * @throws DamageError when a header is not what LMDB writes.
 */
export function readHeader(fd: number, fileBytes: number, { readOnly }: { readOnly: boolean }) {
  if (fileBytes === 0) throw new DamageError("it is empty");
  const start = new Pages(fd, fileBytes, META_BYTES);
  if (fileBytes < META_BYTES) throw new DamageError(`it has only ${fileBytes} bytes`);
  const first = metaIn(start.read(0), 0);
  const pages = new Pages(fd, fileBytes, first.pageBytes);
  const second = metaIn(pages.read(1, META_BYTES), 1);
  // lmdb-js keeps a third snapshot in the middle of the first page: the last one known to be on the
  // disk.
  const third = flushedIn(pages.read(0), first);
  expectAlike(first, second, third);
  return { pages, meta: readOnly ? latestOf(first, second) : chosenOf([first, second, third]) };
}

function metaIn(page: Buffer, number: number): Meta {
  const where = `page ${number}, its header,`;
  if (page.every((byte) => byte === 0)) throw new DamageError(`${where} is all zeros`);
  const isMeta = (page.readUInt16LE(FLAGS_AT) & IS_META) !== 0;
  if (!isMeta || page.readUInt32LE(HEADER_BYTES) !== MAGIC) {
    throw new DamageError(`${where} is not that of an LMDB database`);
  }
  const version = page.readUInt16LE(HEADER_BYTES + 4);
  if (version !== DATA_VERSION) {
    throw new DamageError(
      `${where} is of LMDB's data version ${version}; this program reads ${DATA_VERSION}`,
    );
  }
  return snapshotIn(page, where);
}

/** Reads the fields that the third snapshot has too. */
function snapshotIn(page: Buffer, where: string): Meta {
  const flags = page.readUInt16LE(HEADER_BYTES + 28);
  const pageBytes = page.readUInt32LE(HEADER_BYTES + 24);
  const isPower = Number.isInteger(Math.log2(pageBytes));
  if (!isPower || pageBytes < PAGE_BYTES_MIN || pageBytes > PAGE_BYTES_MAX) {
    throw new DamageError(`${where} names a page size of ${pageBytes} bytes`);
  }
  if ((flags & INTEGER_KEYS) === 0 || (flags & ~FLAGS_ALLOWED) !== 0) {
    throw new DamageError(`${where} has unknown flags`);
  }
  const lastPage = Number(page.readBigUInt64LE(HEADER_BYTES + 120));
  if (lastPage < FIRST_PAGE - 1 || lastPage > Number.MAX_SAFE_INTEGER / pageBytes) {
    throw new DamageError(`${where} names ${lastPage} as the last page`);
  }
  const free = treeIn(page.subarray(HEADER_BYTES + 24), { name: FREE, lastPage });
  const main = treeIn(page.subarray(HEADER_BYTES + 24 + TREE_BYTES), { name: "main", lastPage, flags: 0 });
  return {
    pageBytes,
    lastPage,
    trees: [free, main],
    transaction: Number(page.readBigUInt64LE(HEADER_BYTES + 128)),
    bootId: page.readBigInt64LE(HEADER_BYTES + 136),
    unflushed: (flags & UNFLUSHED) !== 0,
  };
}

/**
 * Reads a tree's description.
 *
 * @param expected `flags` are those that the tree must have; left out where they have another meaning.
 */
export function treeIn(bytes: Buffer, expected: { name: string; lastPage: number; flags?: number }): Tree {
  const { name, lastPage, flags } = expected;
  const depth = bytes.readUInt16LE(6);
  const root = bytes.readBigUInt64LE(40);
  const isEmpty = depth === 0;
  const inside = isEmpty ? root === NO_PAGE : root >= FIRST_PAGE && root <= lastPage;
  if (depth > DEPTH_MAX || !inside || (flags !== undefined && bytes.readUInt16LE(4) !== flags)) {
    throw new DamageError(`the root of its tree ${name} is damaged`);
  }
  return { name, depth, root: Number(root) };
}

/** Reads the last flushed snapshot; undefined when the database was never flushed that way. */
function flushedIn(page: Buffer, { pageBytes }: Meta): Meta | undefined {
  const half = page.subarray(pageBytes / 2);
  const isWritten = half.some((byte) => byte !== 0);
  return isWritten ? snapshotIn(half, "page 0, its header, in its second half") : undefined;
}

/** Expects that snapshots take turns: of two, one has the transaction after the other's. */
function expectAlike(first: Meta, second: Meta, third: Meta | undefined): void {
  const step = Math.abs(first.transaction - second.transaction);
  // A new database has written neither; LMDB writes only the second one in a copy.
  const isFresh = first.transaction === 0 && (second.transaction === 0 || second.transaction % 2 === 1);
  const alternate = isFresh || (step === 1 && first.transaction % 2 === 0);
  const latest = Math.max(first.transaction, second.transaction);
  const sizes = new Set([first, second, third ?? first].map(({ pageBytes }) => pageBytes));
  if (sizes.size > 1 || !alternate || (third?.transaction ?? 0) > latest) {
    throw new DamageError("its headers contradict each other");
  }
}

function latestOf(a: Meta, b: Meta): Meta {
  return a.transaction >= b.transaction ? a : b;
}

/**
 * Returns the snapshot that lmdb-js opens (`mdb_pick_meta`): the latest, or after a restart of the
 * system the last flushed one. Undefined where that cannot be known.
 */
function chosenOf([first, second, third]: readonly [Meta, Meta, Meta | undefined]): Meta | undefined {
  const bootId = bootIdNow();
  const pick = (a: Meta, b: Meta): Meta => {
    const latest = latestOf(a, b);
    if (b.transaction === 0) return a;
    const survives = latest.bootId !== 0n && latest.bootId === bootId;
    if (survives || !latest.unflushed) return latest;
    return a.transaction > b.transaction ? b : a;
  };
  if (bootId === undefined && latestOf(first, second).transaction !== third?.transaction) return undefined;
  const picked = pick(first, second);
  return third === undefined ? picked : pick(picked, third);
}

/** Returns the id of this start of the system; 0 where Linux does not give one, undefined elsewhere. */
function bootIdNow(): bigint | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const [beginning = ""] = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").split("-");
    return BigInt(`0x${beginning}`);
  } catch {
    // LMDB goes on without one, too.
    return 0n;
  }
}
