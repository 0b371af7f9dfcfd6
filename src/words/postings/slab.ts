/** Numbers of 32 bits on one page: 256 KiB. */
const PAGE_BITS = 16;
const PAGE = 1 << PAGE_BITS;
const FIRST_PAGE_MIN = 256;

/**
 * Memory for blocks of 32-bit numbers, page by page, so that growing never copies more than one page. A block
 * lies on one page.
 */
export class Slab {
  /** Place of the next block. Place 0 stays unused, so that 0 can mean none. */
  #end = 1;
  readonly #pages: Uint32Array[] = [new Uint32Array(FIRST_PAGE_MIN)];

  get bytes(): number {
    return this.#pages.reduce((bytes, page) => bytes + page.byteLength, 0);
  }

  /** Reserves a block of zeros, of at most a page; answers its place. */
  reserve(length: number): number {
    if ((this.#end & (PAGE - 1)) + length > PAGE) this.#end = this.#pages.length << PAGE_BITS;
    const at = this.#end;
    this.#end += length;
    this.#fit(at >>> PAGE_BITS, (at & (PAGE - 1)) + length);
    return at;
  }

  /** Returns the page of a place. */
  pageOf(at: number): Uint32Array {
    return this.#pages[at >>> PAGE_BITS] as Uint32Array;
  }

  /** Returns a place's offset on its page. */
  offsetOf(at: number): number {
    return at & (PAGE - 1);
  }

  get(at: number): number {
    return (this.#pages[at >>> PAGE_BITS] as Uint32Array)[at & (PAGE - 1)] as number;
  }

  set(at: number, value: number): void {
    (this.#pages[at >>> PAGE_BITS] as Uint32Array)[at & (PAGE - 1)] = value;
  }

  #fit(number: number, length: number): void {
    const page = this.#pages[number];
    if (page === undefined) this.#pages.push(new Uint32Array(PAGE));
    else if (page.length < length) {
      // Only the first page grows: a small namespace must not take a whole one.
      const larger = new Uint32Array(Math.min(PAGE, Math.max(length, page.length * 2)));
      larger.set(page);
      this.#pages[number] = larger;
    }
  }
}
