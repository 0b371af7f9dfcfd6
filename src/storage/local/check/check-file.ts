import { closeSync, fstatSync, openSync } from "node:fs";
import { readHeader } from "./header.js";
import { Damage } from "./pages.js";
import { Walk } from "./walk.js";

interface CheckOptions {
  /** Whether LMDB will open the file for reading only, which decides the snapshot that it takes. */
  readonly readOnly: boolean;
  /** Time for checking the pages after the header. */
  readonly limitMs: number;
}

/**
 * Describes damage in an LMDB file that no process has open; returns undefined if it finds none. LMDB
 * trusts what it maps, so most damage would end the process by a signal, without a message.
 *
 * It always checks the headers and the file's size, and the pages of the trees, from their roots on, for
 * as long as `limitMs` allows. It does not read values: decoding them finds their damage.
 */
export function findDamage(path: string, { readOnly, limitMs }: CheckOptions): string | undefined {
  const fd = openSync(path, "r");
  try {
    const { size } = fstatSync(fd);
    const { pages, meta } = readHeader(fd, size, { readOnly });
    if (meta === undefined) return undefined;
    // Unused pages at the end may never have been written, so only a look at all pages can tell.
    const isShort = pages.count <= meta.lastPage;
    new Walk(pages, meta, isShort ? Number.POSITIVE_INFINITY : performance.now() + limitMs).run();
    return undefined;
  } catch (error) {
    if (error instanceof Damage) return error.message;
    throw error;
  } finally {
    closeSync(fd);
  }
}
