import type { Entry, Special, Stored } from "../ports/log.js";

/** Memory that a number takes, about. */
const NUMBER_BYTES = 40;
/** Number of memories listed before other work may get its turn. */
const SLICE = 16_384;

/** Maximum number of memories that are noted as forgotten during a search; one with more is done again. */
const FORGOTTEN_MAX = 1_000;

export interface Viewing {
  readonly nowMs: number;
  /** True if memories that others superseded are wanted, too. */
  readonly includeSuperseded: boolean;
}

/** Memories that were forgotten since a search began, which may have found them before. */
export interface Forgotten {
  /** Number of the new version of each; undefined for those that were deleted. */
  readonly versions: ReadonlyMap<number, number | undefined>;
  /** Those that were hidden. */
  readonly hidden: Hidden;
  /** True if there were more of them: what the search finds is of no use. */
  readonly isIncomplete: boolean;
}

interface Forgetting extends Forgotten {
  readonly versions: Map<number, number | undefined>;
  isIncomplete: boolean;
}

/** The memories of one log that searches must not show, or only until some time. */
export class Hidden {
  readonly #superseded = new Set<number>();
  readonly #expiring = new Map<number, number>();
  /** Memories that were forgotten since each of the running searches began. */
  readonly #forgottenDuring = new Set<Forgetting>();

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
  async during<T>(search: (forgotten: Forgotten) => Promise<T>): Promise<T> {
    const forgotten: Forgetting = { versions: new Map(), hidden: new Hidden(), isIncomplete: false };
    this.#forgottenDuring.add(forgotten);
    try {
      return await search(forgotten);
    } finally {
      this.#forgottenDuring.delete(forgotten);
    }
  }

  /** Forgets a memory that is not in the index any more, because it was deleted or has a new version. */
  forget(sequence: number, version: number | undefined): void {
    const expiresAtMs = this.#expiring.get(sequence);
    for (const forgotten of this.#forgottenDuring) {
      forgotten.isIncomplete ||= forgotten.versions.size === FORGOTTEN_MAX;
      if (forgotten.isIncomplete) continue;
      forgotten.versions.set(sequence, version);
      if (this.#superseded.has(sequence)) forgotten.hidden.#superseded.add(sequence);
      if (expiresAtMs !== undefined) forgotten.hidden.#expiring.set(sequence, expiresAtMs);
    }
    this.#superseded.delete(sequence);
    this.#expiring.delete(sequence);
  }

  clear(): void {
    this.#superseded.clear();
    this.#expiring.clear();
  }
}
