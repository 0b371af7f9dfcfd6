import { readSync } from "node:fs";

/** What is wrong with a database's file, in words for an operator. Never leaves this folder. */
export class Damage extends Error {}

/**
 * The pages of an LMDB file, read one by one. The file is not mapped: reading a mapped page that is not
 * there, or following a damaged pointer through one, ends the process by a signal.
 */
export class Pages {
  constructor(
    private readonly fd: number,
    /** The file's size. */
    readonly fileBytes: number,
    readonly pageBytes: number,
  ) {}

  /** Number of whole pages in the file. */
  get count(): number {
    return Math.floor(this.fileBytes / this.pageBytes);
  }

  /** @throws Damage when the file ends before the page does. */
  read(page: number): Buffer {
    return this.#read(page, this.pageBytes);
  }

  /** The first bytes of a page. */
  readStart(page: number, bytes: number): Buffer {
    return this.#read(page, bytes);
  }

  #read(page: number, bytes: number): Buffer {
    const into = Buffer.allocUnsafe(bytes);
    if (readSync(this.fd, into, 0, bytes, page * this.pageBytes) === bytes) return into;
    throw new Damage(`page ${page} lies behind the end of the file`);
  }
}
