import { closeSync, fstatSync, openSync, readSync, truncateSync } from "node:fs";

/** Offsets and values of `MDB_page` and `MDB_meta` in mdb.c of lmdb-js 3.5.6. */
const FLAGS_AT = 18;
const IS_META = 0x08;
const MAGIC_AT = 24;
const MAGIC = 0xbeefc0de;
const VERSION_AT = 28;
const DATA_VERSION = 2;
const PAGE_BYTES_AT = 48;
const PAGE_BYTES_MIN = 512;
const PAGE_BYTES_MAX = 65_536;
const TREE_FLAGS_AT = 52;
/** Integer keys, and what lmdb-js sets: metrics, restore, unflushed, overlapping flushes, one file and no folder. */
const TREE_FLAGS = 0x08 | 0x400 | 0x800 | 0x1000 | 0x4000;
const LAST_PAGE_AT = 144;
const META_BYTES = 168;

/** Free pages at the end that LMDB may not have written: those that one transaction took and gave back. */
const UNWRITTEN_PAGES_MAX = 64;

/** Size that no file system of ours allows: the number of the last page is damaged. */
const FILE_BYTES_MAX = 2 ** 43;

/**
 * Describes damage of an LMDB file that no process has open, by its header and its size; undefined if it finds none.
 * LMDB trusts both, and would end the process by a signal. It adds the free pages at the end that LMDB has not written:
 * those of a file that lacks others, in any of its snapshots, are empty then, which LMDB notices.
 */
export function findDamage(path: string): string | undefined {
  const fd = openSync(path, "r");
  try {
    const { size } = fstatSync(fd);
    if (size === 0) return "it is empty";
    const metaAt = (position: number) => {
      const bytes = Buffer.alloc(META_BYTES);
      readSync(fd, bytes, 0, META_BYTES, position);
      return bytes;
    };
    const header = metaAt(0);
    const pageBytes = header.readUInt32LE(PAGE_BYTES_AT);
    const damage = damageOf(header, pageBytes);
    if (damage !== undefined) return damage;
    if (size < 2 * pageBytes) return `it has only ${size} bytes`;
    // The latest snapshots take turns in the first two pages; the last one that is known to be on the disk is between
    // them. After a power loss LMDB takes an earlier one, which has fewer pages.
    const metas = [0, pageBytes / 2, pageBytes].map(metaAt);
    const written = metas.filter((meta) => meta.readUInt32LE(PAGE_BYTES_AT) === pageBytes);
    const lastPages = written.map((meta) => Number(meta.readBigUInt64LE(LAST_PAGE_AT)));
    const lastPage = Math.min(...lastPages);
    if (lastPage + 1 - Math.floor(size / pageBytes) > UNWRITTEN_PAGES_MAX)
      return `it ends before page ${lastPage}`;
    const latest = Math.max(...lastPages);
    if (latest + 1 > FILE_BYTES_MAX / pageBytes) return `it has no page ${latest}`;
    const bytes = (latest + 1) * pageBytes;
    if (size < bytes) truncateSync(path, bytes);
    return undefined;
  } finally {
    closeSync(fd);
  }
}

function damageOf(header: Buffer, pageBytes: number): string | undefined {
  if (header.every((byte) => byte === 0)) return "its header is all zeros";
  const isMeta = (header.readUInt16LE(FLAGS_AT) & IS_META) !== 0;
  if (!isMeta || header.readUInt32LE(MAGIC_AT) !== MAGIC) return "its header is not that of an LMDB database";
  const version = header.readUInt16LE(VERSION_AT);
  if (version !== DATA_VERSION)
    return `its header is of LMDB's data version ${version}; this program reads ${DATA_VERSION}`;
  const isPower = Number.isInteger(Math.log2(pageBytes));
  if (!isPower || pageBytes < PAGE_BYTES_MIN || pageBytes > PAGE_BYTES_MAX)
    return `its header names a page size of ${pageBytes} bytes`;
  if ((header.readUInt16LE(TREE_FLAGS_AT) & ~TREE_FLAGS) !== 0) return "its header has unknown flags";
  return undefined;
}
