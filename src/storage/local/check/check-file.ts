import { closeSync, fstatSync, openSync } from "node:fs";
import { FIRST_PAGE, FREE, type Meta, readHeader, TREE_BYTES, type Tree, treeIn } from "./header.js";
import { DamageError, damaged, expectLong, HEADER_BYTES, type Node, nodesOf, type Pages } from "./page.js";

/** Bytes of a number in a list of free pages. */
const NUMBER_BYTES = 8;

/** Returns the number of pages that a value of this size takes (`OVPAGES` in mdb.c). */
function pagesFor(bytes: number, pageBytes: number): number {
  return Math.floor((HEADER_BYTES - 1 + bytes) / pageBytes) + 1;
}

/** Compares keys of the tree of free pages, which are transaction numbers. */
function compareNumbers(a: Buffer, b: Buffer): number {
  return Number(a.readBigUInt64LE() - b.readBigUInt64LE());
}

interface PageReference {
  readonly page: number;
  /** Number of levels from here to the leaves, including both. */
  readonly levels: number;
  readonly tree: Tree;
}

/**
 * Follows every tree of a snapshot from its root, without LMDB. The trees are read level by level and beside each
 * other: so all pages above the leaves, and all of the small trees, are checked even if the log is large.
 */
class Walk {
  /** A bit for each page that was reached; none may be reached twice. */
  readonly #reached: Uint8Array;
  /** Pages to read, those included that were read. */
  readonly #pages: PageReference[] = [];
  readonly #free: Buffer[] = [];

  constructor(
    private readonly pages: Pages,
    private readonly meta: Meta,
    /** Time of `performance.now()` at which the check stops; what remains counts as undamaged. */
    private readonly untilMs: number,
  ) {
    this.#reached = new Uint8Array(Math.floor(Math.min(meta.lastPage, pages.count) / 8) + 1);
  }

  /** Checks all trees. @throws DamageError at the first page that is not what LMDB writes. */
  run(): void {
    for (const tree of this.meta.trees) this.#add(tree);
    for (const place of this.#pages) {
      if (performance.now() > this.untilMs) break;
      this.#reach(place.page, 1);
      if (place.levels > 1) this.#branch(place);
      else for (const node of this.#nodes(place, "leaf")) this.#value(node, place);
    }
    for (const list of this.#free) this.#expectFree(list);
  }

  #add(tree: Tree): void {
    if (tree.depth > 0) this.#pages.push({ page: tree.root, levels: tree.depth, tree });
  }

  #branch(place: PageReference): void {
    const { page, levels, tree } = place;
    const nodes = this.#nodes(place, "branch");
    if (nodes.length < (tree.name === FREE ? 1 : 2)) throw damaged(page);
    for (const { child } of nodes) this.#pages.push({ page: child, levels: levels - 1, tree });
  }

  #value({ key, isLong, isTree, bytes, data }: Node, { page, tree }: PageReference): void {
    if (isTree) this.#subtree({ key, data }, { page, tree });
    const value = isLong ? this.#long(data, { page, bytes }) : undefined;
    if (tree.name === FREE)
      this.#free.push(
        value === undefined ? data : this.pages.read(value, HEADER_BYTES + bytes).subarray(HEADER_BYTES),
      );
  }

  #subtree({ key, data }: { key: Buffer; data: Buffer }, { page, tree }: { page: number; tree: Tree }): void {
    if (tree.name !== "main" || data.byteLength !== TREE_BYTES) throw damaged(page);
    const name = key.toString("latin1").replace(/\0$/, "");
    this.#add(treeIn(data, { name, lastPage: this.meta.lastPage, flags: 0 }));
  }

  /** Checks the pages of a long value, of which only the first has a header. */
  #long(place: Buffer, { page: from, bytes }: { page: number; bytes: number }): number {
    const page = Number(place.readBigUInt64LE(0));
    const pages = Number(place.readBigUInt64LE(16));
    // A value that replaced a longer one may keep its pages.
    if (pages < pagesFor(bytes, this.meta.pageBytes)) throw damaged(from);
    this.#reach(page, pages);
    const { transaction } = this.meta;
    expectLong(this.pages.read(page, HEADER_BYTES), { page, pages, transaction });
    return page;
  }

  /** Expects that no listed free page is in use, because LMDB overwrites free pages. */
  #expectFree(list: Buffer): void {
    for (const { page, count } of freeIn(list)) {
      const last = page + count - 1;
      if (page < FIRST_PAGE || last > this.meta.lastPage)
        throw new DamageError("its list of free pages is damaged");
      for (let each = page; each <= last; each++) {
        if (this.#isReached(each)) throw new DamageError(`page ${each} is in use and listed as free`);
      }
    }
  }

  #isReached(page: number): boolean {
    return ((this.#reached[page >> 3] ?? 0) & (1 << (page & 7))) !== 0;
  }

  #reach(page: number, count: number): void {
    if (page < FIRST_PAGE || page + count - 1 > this.meta.lastPage)
      throw new DamageError(`page ${page} is none`);
    if (page + count > this.pages.count) throw new DamageError(`it ends before page ${page + count - 1}`);
    for (let each = page; each < page + count; each++) {
      if (this.#isReached(each)) throw new DamageError(`page ${each} is used twice`);
      this.#reached[each >> 3] = (this.#reached[each >> 3] ?? 0) | (1 << (each & 7));
    }
  }

  #nodes({ page, tree }: PageReference, kind: "branch" | "leaf"): Node[] {
    const nodes = nodesOf(this.pages.read(page), { page, kind, transaction: this.meta.transaction });
    // A branch page omits its first key: all smaller keys are in that child.
    const keys = nodes.slice(kind === "branch" ? 1 : 0).map(({ key }) => key);
    const compare = tree.name === FREE ? compareNumbers : Buffer.compare;
    if (keys.some((key, i) => i > 0 && compare(keys[i - 1] as Buffer, key) >= 0)) throw damaged(page);
    return nodes;
  }
}

/**
 * Yields the free pages in a record, which has a count of numbers and then the numbers. A negative
 * number is the length of the block that the next one begins; 0 is an unused place. (`midl.c` of
 * lmdb-js.)
 */
function* freeIn(list: Buffer): Generator<{ page: number; count: number }> {
  const count = list.byteLength < NUMBER_BYTES ? -1 : Number(list.readBigInt64LE());
  if (count < 0 || (count + 1) * NUMBER_BYTES > list.byteLength) {
    throw new DamageError("its list of free pages is damaged");
  }
  let block = 1;
  for (let i = 1; i <= count; i++) {
    const number = Number(list.readBigInt64LE(i * NUMBER_BYTES));
    if (number > 0) yield { page: number, count: block };
    block = number < 0 ? -number : 1;
  }
}

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
    if (error instanceof DamageError) return error.message;
    throw error;
  } finally {
    closeSync(fd);
  }
}
