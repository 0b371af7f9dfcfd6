import { readSync } from "node:fs";

/** Damage of a database's file, in words for an operator. It never leaves this folder. */
export class Damage extends Error {}

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

  /** Number of whole pages in the file. */
  get count(): number {
    return Math.floor(this.fileBytes / this.pageBytes);
  }

  /**
   * Reads a page, or its first bytes.
   *
   * @throws Damage when the file ends before.
   */
  read(page: number, bytes = this.pageBytes): Buffer {
    const into = Buffer.allocUnsafe(bytes);
    if (readSync(this.fd, into, 0, bytes, page * this.pageBytes) === bytes) return into;
    throw new Damage(`page ${page} lies behind the end of the file`);
  }
}
