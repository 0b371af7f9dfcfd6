/**
 * The log: the ground truth. Each namespace has one, named by a random log; its entries
 * are numbered 1, 2, 3… without a hole, and each entry is the memory itself. Whatever else this
 * program holds (indexes, caches) is derived from it and may be thrown away.
 */

import type { Window } from "./embedder.js";
import type { Generation } from "./generation.js";

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
  /** As the embedder gave them: one vector, or one for each window, end to end. */
  readonly vectors: Float32Array;
  readonly windows?: readonly Window[];
  readonly tokens: number;
  readonly createdAtMs: number;
}

/** What is read of each memory: all of it, all but its vectors, all but its text and metadata, or neither. */
export type What = keyof Seen;

/** A memory as it was read. */
export interface Seen {
  readonly all: Stored;
  readonly text: Omit<Stored, "vectors" | "windows">;
  readonly vectors: Omit<Stored, "text" | "metadata">;
  readonly head: Omit<Stored, "vectors" | "windows" | "text" | "metadata">;
}

/** What is left of a memory once it was erased: its number is never used again. */
export interface Erased extends Pick<Stored, "opId" | "id" | "tokens" | "createdAtMs"> {
  readonly op: "erased";
}

/** A tombstone: tells every replica to forget an earlier entry. */
export interface Deleted {
  readonly op: "delete";
  readonly opId: string;
  /** The number of the entry to forget. */
  readonly target: number;
}

/** The last entry of a log: the namespace was dropped, and its name begins a new log. */
export interface Dropped {
  readonly op: "drop";
  readonly opId: string;
}

/** The last entry of a log whose namespace goes on in its copy: the same memories, read by another model. */
export interface Moved {
  readonly op: "moved";
  readonly opId: string;
  /** The copy's log. */
  readonly to: string;
}

/** Stands for an entry that is missing or unreadable though later ones are there: damage from outside. */
export interface Lost {
  readonly op: "lost";
  readonly opId: "";
  readonly reason: string;
}

/** What a writer appends; erased ones only to a copy, so that its numbers stay the original's. */
export type Appended = Stored | Erased | Deleted | Dropped | Moved;
/** What a reader meets. */
export type Entry<W extends What = "all"> = Seen[W] | Exclude<Appended, Stored> | Lost;

/** Behind it nothing is ever appended. */
export function isEnd(entry: Entry<"head">): entry is Dropped | Moved {
  return entry.op === "drop" || entry.op === "moved";
}

/** An entry and its number. */
export interface Numbered<E extends Entry<"head"> = Entry> {
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
  /** The living log of a namespace; undefined when nobody stored to it. */
  find(scope: Scope): Promise<string | undefined>;

  /**
   * The living log of a namespace, which this call brings into being if needed: in this
   * model generation, else in the first.
   */
  create(scope: Scope, generation?: Generation): Promise<string>;

  /**
   * Inserts the entries at `from`, `from` + 1, … in this order, each only if its number is free, and
   * stops at the first that is taken. Answers how many were inserted, once they survive a crash.
   */
  append(batch: { logId: string; from: number; entries: readonly Appended[] }): Promise<number>;

  /**
   * The entries from number `from` on, dense and in order; only such as survive a crash. At most
   * `limit`, and no more than a slice (`bounds.ts`) holds: the entry that fills it is the last. They
   * may be fewer, but not none, when it takes long.
   * Where a number is missing or unreadable and later ones are there, a Lost entry stands for it.
   */
  read<W extends What>(range: Range<W>): Promise<Tail<W>>;

  /** The last entry; undefined when there is none. */
  last(logId: string): Promise<Numbered<Entry<"head">> | undefined>;

  /**
   * The memories with these numbers, from the highest number down, and no more than a slice
   * (`bounds.ts`) holds. What was erased, or is none, is left out. At least one number is looked up.
   */
  fetch<W extends What>(of: Several & { what: W }): Promise<Fetched<W>>;

  /** The number of the memory with this id, in this log; undefined when it is not there or was erased. */
  locate(of: { logId: string; id: string }): Promise<number | undefined>;

  /**
   * The number that the memory with this id has in this log, or had until it was erased;
   * undefined when it was never there.
   */
  numberOf(of: { logId: string; id: string }): Promise<number | undefined>;

  /**
   * Turns memories into Erased entries: text, vector and metadata are gone once this is answered.
   * Numbers that are not there, or hold no memory, are passed over.
   */
  erase(of: Several): Promise<void>;

  /** Takes the name off a log, if it still has it: the next `create` begins a new one. */
  retire(scope: Scope, logId: string): Promise<void>;

  /** Gives a name another log, if it still has the one given. */
  rename(scope: Scope, of: { from: string; to: string }): Promise<void>;

  /** The living namespaces of all accounts, in a fixed order, after the one given. */
  names(of: { after?: Scope | undefined; limit: number }): Promise<Named[]>;

  /** The account's living namespaces in order of their names' bytes, after the one given. */
  list(of: { accountId: string; after?: string; limit: number }): Promise<Head[]>;

  /** What a log holds now, without what was erased. */
  measure(of: { logId: string }): Promise<Measured>;

  /** The logs that have entries, dropped ones included, in their order, after the one given. */
  logIds(of: { after: string; limit: number }): Promise<string[]>;
}

/** Entries of one log. */
export interface Several {
  readonly logId: string;
  readonly sequences: readonly number[];
}

/** A part of a log, and what of its memories is to be read. */
export interface Range<W extends What = What> {
  readonly logId: string;
  readonly from: number;
  readonly limit: number;
  readonly what: W;
}

/** A slice of a log. */
export interface Tail<W extends What> {
  readonly entries: Numbered<Entry<W>>[];
  /** These were all there was at some moment after the call began. */
  readonly complete: boolean;
}

/** A slice of the memories that were asked for. */
export interface Fetched<W extends What> {
  readonly found: Numbered<Seen[W]>[];
  /** The numbers that were not looked up: all are lower than those that were. */
  readonly rest: readonly number[];
}

/** An entry without what was not asked for. */
export function seen<W extends What>(entry: Entry, what: W): Entry<W> {
  if (entry.op !== "store") return entry;
  const { text, metadata, vectors, windows, ...head } = entry;
  return {
    ...head,
    ...(hasText(what) && { text, metadata }),
    ...(hasVectors(what) && { vectors, ...(windows && { windows }) }),
  } as Entry<W>;
}

export function hasText(what: What): boolean {
  return what === "all" || what === "text";
}

export function hasVectors(what: What): boolean {
  return what === "all" || what === "vectors";
}

/** What a namespace holds. */
export interface Measured {
  readonly memories: number;
  /** Bytes of their texts and metadata together. */
  readonly bytes: number;
}

/** A namespace of any account, and its living log. */
export interface Named {
  readonly scope: Scope;
  readonly logId: string;
}

/** A namespace and its living log. */
export interface Head {
  readonly namespace: string;
  readonly logId: string;
}
