import type { Entry, Special, Stored } from "../ports/log.js";

/** Memory that a number takes, about. */
const NUMBER_BYTES = 40;
/** Number of memories listed before other work may get its turn. */
const SLICE = 16_384;

export interface Viewing {
  readonly nowMs: number;
  /** True if memories that others superseded are wanted, too. */
  readonly includeSuperseded: boolean;
}

/** The memories of one log that searches must not show, or only until some time. */
export class Hidden {
  readonly #superseded = new Set<number>();
  readonly #expiring = new Map<number, number>();
  /** Memories that were forgotten since each of the running searches began: it may have found them before. */
  readonly #forgottenDuring = new Set<Hidden>();

  /** True if every memory is shown. */
  get isEmpty(): boolean {
    return this.#superseded.size === 0 && this.#expiring.size === 0;
  }

  /** Approximate size in memory, in bytes. */
  get bytes(): number {
    return (this.#superseded.size + this.#expiring.size) * NUMBER_BYTES;
  }

  isShown(sequence: number, { nowMs, includeSuperseded }: Viewing): boolean {
    const expiresAtMs = this.#expiring.get(sequence);
    if (expiresAtMs !== undefined && expiresAtMs <= nowMs) return false;
    return includeSuperseded || !this.#superseded.has(sequence);
  }

  /** Number of memories that may be hidden. */
  get size(): number {
    return this.#superseded.size + this.#expiring.size;
  }

  /** Lists the hidden memories, some of them twice. It yields often. */
  *all({ nowMs, includeSuperseded }: Viewing): Generator<void, number[]> {
    const hidden: number[] = [];
    let seen = 0;
    for (const [sequence, expiresAtMs] of this.#expiring) {
      if (++seen % SLICE === 0) yield;
      if (expiresAtMs <= nowMs) hidden.push(sequence);
    }
    for (const sequence of includeSuperseded ? [] : this.#superseded) {
      if (++seen % SLICE === 0) yield;
      hidden.push(sequence);
    }
    return hidden;
  }

  /** Takes an entry of the log. */
  take(sequence: number, entry: Entry<"head">): void {
    if (entry.op !== "store" && entry.op !== "erased") return;
    const { supersedes, expiresAtMs } = entry as Partial<Stored>;
    this.add({
      sequence,
      ...(supersedes && { supersedes }),
      ...(expiresAtMs !== undefined && { expiresAtMs }),
    });
  }

  add({ sequence, supersedes = [], expiresAtMs }: Special): void {
    for (const target of supersedes) this.#superseded.add(target);
    if (expiresAtMs !== undefined) this.#expiring.set(sequence, expiresAtMs);
  }

  /** Runs a search, which must leave out what `forgotten` hides as well. */
  async during<T>(search: (forgotten: Hidden) => Promise<T>): Promise<T> {
    const forgotten = new Hidden();
    this.#forgottenDuring.add(forgotten);
    try {
      return await search(forgotten);
    } finally {
      this.#forgottenDuring.delete(forgotten);
    }
  }

  /** Forgets a memory that is not in the index any more. */
  forget(sequence: number): void {
    const expiresAtMs = this.#expiring.get(sequence);
    for (const forgotten of this.#forgottenDuring) {
      if (this.#superseded.has(sequence)) forgotten.#superseded.add(sequence);
      if (expiresAtMs !== undefined) forgotten.#expiring.set(sequence, expiresAtMs);
    }
    this.#superseded.delete(sequence);
    this.#expiring.delete(sequence);
  }

  clear(): void {
    this.#superseded.clear();
    this.#expiring.clear();
  }
}
