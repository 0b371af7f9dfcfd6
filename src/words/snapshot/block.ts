import { createHash } from "node:crypto";

// A block of a word index, on its way to a thread or to a file: a head of 32 bytes, 16 bytes for each memory,
// 8 bytes for each of their postings, and the hash of all that.

const FORMAT = 0x31425752;
const HEAD_BYTES = 32;
const MEMORY_BYTES = 16;
const POSTING_BYTES = 8;
const HASH_BYTES = 32;
const WIPED = 1;

/** Number of postings from which on a block is full: about a quarter of a megabyte. */
export const BLOCK_POSTINGS = 32_768;

/** Ties a block to its file: 16 random bytes in hex, and the block's number there. */
export interface BlockPlace {
  readonly nonce: string;
  readonly number: number;
}

/** A memory in a block. */
export interface Listed {
  readonly sequence: number;
  /** Number of words. */
  readonly length: number;
  /** Number of postings; those of all memories follow each other. */
  readonly postings: number;
  readonly wiped: boolean;
}

/** A block that can be read, and in which memories can be wiped. */
export class Block {
  readonly #view: DataView;

  private constructor(readonly bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Makes a block of memories, whose postings are then set. */
  static make(memories: readonly Omit<Listed, "wiped">[]): Block {
    const postings = memories.reduce((sum, each) => sum + each.postings, 0);
    const bytes = HEAD_BYTES + memories.length * MEMORY_BYTES + postings * POSTING_BYTES + HASH_BYTES;
    const block = new Block(new Uint8Array(bytes));
    block.#view.setUint32(0, FORMAT, true);
    block.#view.setUint32(24, memories.length, true);
    block.#view.setUint32(28, postings, true);
    memories.forEach((each, i) => {
      const at = HEAD_BYTES + i * MEMORY_BYTES;
      block.#view.setFloat64(at, each.sequence, true);
      block.#view.setUint16(at + 8, each.length, true);
      block.#view.setUint32(at + 12, each.postings, true);
    });
    return block;
  }

  /** Takes the bytes of a block that was just made. */
  static take(bytes: Uint8Array): Block {
    return new Block(bytes);
  }

  /** Takes the bytes of a block. Throws if they are not those that were sealed for the place. */
  static open(bytes: Uint8Array, place: BlockPlace): Block {
    const block = new Block(bytes);
    if (bytes.length < HEAD_BYTES + HASH_BYTES) throw new Error("a block is cut short");
    if (!block.#hash().equals(bytes.subarray(-HASH_BYTES))) throw new Error("a block is damaged");
    const isOurs = block.#view.getUint32(0, true) === FORMAT && block.#placeIs(place);
    if (!isOurs) throw new Error("a block is of another file");
    const body = block.memories * MEMORY_BYTES + block.postings * POSTING_BYTES;
    if (bytes.length !== HEAD_BYTES + body + HASH_BYTES) throw new Error("a block has another length");
    return block;
  }

  get memories(): number {
    return this.#view.getUint32(24, true);
  }

  get postings(): number {
    return this.#view.getUint32(28, true);
  }

  memory(i: number): Listed {
    const at = HEAD_BYTES + i * MEMORY_BYTES;
    return {
      sequence: this.#view.getFloat64(at, true),
      length: this.#view.getUint16(at + 8, true),
      wiped: this.#view.getUint16(at + 10, true) === WIPED,
      postings: this.#view.getUint32(at + 12, true),
    };
  }

  posting(i: number): { low: number; high: number; weightPlace: number } {
    const at = this.#postingAt(i);
    return {
      low: this.#view.getUint32(at, true),
      high: this.#view.getUint16(at + 4, true),
      weightPlace: this.#view.getUint16(at + 6, true),
    };
  }

  setPosting(i: number, low: number, high: number, weightPlace: number): void {
    const at = this.#postingAt(i);
    this.#view.setUint32(at, low, true);
    this.#view.setUint16(at + 4, high, true);
    this.#view.setUint16(at + 6, weightPlace, true);
  }

  /** Overwrites all that is known of some memories but their numbers. */
  wipe(sequences: ReadonlySet<number>): void {
    let first = 0;
    for (let i = 0; i < this.memories; i++) {
      const { sequence, postings } = this.memory(i);
      if (sequences.has(sequence)) {
        const at = HEAD_BYTES + i * MEMORY_BYTES;
        this.#view.setUint16(at + 8, 0, true);
        this.#view.setUint16(at + 10, WIPED, true);
        this.bytes.fill(0, this.#postingAt(first), this.#postingAt(first + postings));
      }
      first += postings;
    }
  }

  /** Ties it to a place, and sets its hash. */
  seal({ nonce, number }: BlockPlace): void {
    this.#view.setUint32(4, number, true);
    this.bytes.set(Buffer.from(nonce, "hex"), 8);
    this.bytes.set(this.#hash(), this.bytes.length - HASH_BYTES);
  }

  #placeIs({ nonce, number }: BlockPlace): boolean {
    const own = Buffer.from(this.bytes.subarray(8, 24)).toString("hex");
    return own === nonce && this.#view.getUint32(4, true) === number;
  }

  #postingAt(i: number): number {
    return HEAD_BYTES + this.memories * MEMORY_BYTES + i * POSTING_BYTES;
  }

  #hash(): Buffer {
    return createHash("sha256").update(this.bytes.subarray(0, -HASH_BYTES)).digest();
  }
}
