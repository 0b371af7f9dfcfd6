import { closeSync, fstatSync, openSync } from "node:fs";
import { readHeader } from "./header.js";
import { Damage } from "./pages.js";
import { Walk } from "./walk.js";

interface CheckOptions {
  /** Whether the file is to be opened for reading only, which decides which snapshot LMDB takes. */
  readonly readOnly: boolean;
  /** How long the pages behind the header are looked at. */
  readonly limitMs: number;
}

/**
 * What is wrong with an LMDB file that nobody has open; undefined when nothing was found. LMDB trusts
 * what it maps: most damage would otherwise end the process by a signal, without a word.
 *
 * The headers and the file's size are always looked at; the pages of the trees, from their roots on, for
 * as long as is given. Values are not read: whoever decodes them knows when they are damaged.
 */
export function findDamage(path: string, { readOnly, limitMs }: CheckOptions): string | undefined {
  const fd = openSync(path, "r");
  try {
    const { size } = fstatSync(fd);
    const { pages, meta } = readHeader(fd, size, { readOnly });
    if (meta === undefined) return undefined;
    // Pages at the end may never have been written, if they are not used: only all of them together tell.
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
