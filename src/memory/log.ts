/**
 * The log: the ground truth. Each namespace has one, named by a random incarnation; its entries
 * are numbered 1, 2, 3… without a hole, and each entry is the memory itself. Whatever else this
 * program holds (indexes, caches) is derived from it and may be thrown away.
 */

/** Whose namespace: names belong to an account. */
export interface Scope {
  readonly accountId: string;
  readonly namespace: string;
}

/** One memory, as it stands in the log. */
export interface Stored {
  readonly op: "store";
  /** Tells a writer its own entry again after an unknown outcome. */
  readonly opId: string;
  /** `mem_…` */
  readonly id: string;
  readonly text: string;
  /** JSON of an object; kept as text so that every key and number comes back as it was given. */
  readonly metadata: string;
  /** The model's vector of the text: normalised, float32. */
  readonly vector: Float32Array;
  readonly tokens: number;
  readonly createdAtMs: number;
}

export type Entry = Stored;

/** An entry and its number. */
export interface Numbered<E extends Entry = Entry> {
  readonly sequence: number;
  readonly entry: E;
}

/**
 * The port. Every adapter passes `test/contract/log.ts`.
 *
 * All methods throw MemoryError `unavailable` when the database cannot answer; after such an error
 * a write may have happened or not.
 */
export interface Log {
  /** The living incarnation of a namespace; undefined when nobody stored to it. */
  find(scope: Scope): Promise<string | undefined>;

  /** The living incarnation of a namespace, which this call brings into being if needed. */
  create(scope: Scope): Promise<string>;

  /**
   * Inserts the entries at `from`, `from` + 1, … in this order, each only if its number is free, and
   * stops at the first that is taken. Answers how many were inserted, once they survive a crash.
   */
  append(batch: { incarnation: string; from: number; entries: readonly Entry[] }): Promise<number>;

  /**
   * The entries from number `from` on, at most `limit`, dense and in order; only such as survive a
   * crash. Fewer than `limit` means that these were all there was at some moment after the call began.
   */
  read(range: { incarnation: string; from: number; limit: number }): Promise<Numbered[]>;

  /** The entries with these numbers, in any order; numbers that are not there are left out. */
  fetch(of: { incarnation: string; sequences: readonly number[] }): Promise<Numbered[]>;
}
