/**
 * The log is the ground state. Each namespace has one, with a random id. Its entries are numbered 1, 2, 3…
 * without a gap, and each entry is the memory itself. All else that this program holds, such as indexes and
 * caches, is derived from it and may be thrown away.
 */

import type { Window } from "./embedder.js";

/** One memory in the log. */
export interface Stored {
  readonly op: "store";
  /** Operation id, by which a writer recognises its entry after an unknown outcome. */
  readonly opId: string;
  /** `mem_…` */
  readonly id: string;
  readonly text: string;
  /** JSON of an object, kept as text so that every key and number comes back unchanged. */
  readonly metadata: string;
  /** Vectors of the embedder: one, or one for each window, end to end. */
  readonly vectors: Float32Array;
  readonly windows?: readonly Window[];
  readonly tokens: number;
  /** Time when its first version was stored. */
  readonly createdAtMs: number;
  /** Time when this version was stored; absent in the first one. */
  readonly updatedAtMs?: number;
  /** The number of the version that this one replaces, which has the same id. */
  readonly replaces?: number;
  /** The numbers of older memories that this one supersedes: they stay, but recalls and lists hide them. */
  readonly supersedes?: readonly number[];
  /** The caller's own id, unique among the living memories of a log. */
  readonly externalId?: string;
  /** Time from which the memory is hidden, soon to be erased. */
  readonly expiresAtMs?: number;
  /** Time at which what it tells of happened; absent if that is when it was stored. */
  readonly eventAtMs?: number;
}

/**
 * Parts of a memory to read: all, all but its vectors, all but its text and metadata, or neither of these.
 */
export type Projection = keyof Projected;

/** A memory with the parts that were read. */
export interface Projected {
  readonly all: Stored;
  readonly text: Omit<Stored, "vectors" | "windows">;
  readonly vectors: Omit<Stored, "text" | "metadata">;
  readonly header: MemoryHeader;
}

export type MemoryHeader = Omit<Stored, "vectors" | "windows" | "text" | "metadata">;

/** Remainder of an erased memory: its number is never used again, and what it did to others stays done. */
export interface Erased
  extends Pick<Stored, "opId" | "id" | "tokens" | "createdAtMs" | "updatedAtMs" | "replaces" | "supersedes"> {
  readonly op: "erased";
}

/** A tombstone, which tells every replica to forget an earlier entry. */
export interface Deleted {
  readonly op: "delete";
  readonly opId: string;
  /** The number of the entry to forget. */
  readonly target: number;
}

/** The last entry of a log whose namespace was dropped. The name then begins a new log. */
export interface Dropped {
  readonly op: "drop";
  readonly opId: string;
}

/**
 * The last entry of a log whose namespace continues in a copy: the same memories, embedded by another model.
 */
export interface Moved {
  readonly op: "moved";
  readonly opId: string;
  /** The copy's log. */
  readonly to: string;
}

/** Placeholder of a missing or unreadable entry before later ones, which means damage from outside. */
export interface Lost {
  readonly op: "lost";
  readonly opId: "";
  readonly reason: string;
}

/** Entries that a writer appends; erased ones only to a copy, which keeps the original's numbers. */
export type Appended = Stored | Erased | Deleted | Dropped | Moved;
/** Entries that a reader gets. */
export type Entry<W extends Projection = "all"> = Projected[W] | Exclude<Appended, Stored> | Lost;

/** True if an entry ends its log: no entry ever follows it. */
export function isEnd(entry: Entry<"header">): entry is Dropped | Moved {
  return entry.op === "drop" || entry.op === "moved";
}

/** True if an entry is a memory. */
export function isMemory<W extends Projection>(
  sequenced: Sequenced<Entry<W>>,
): sequenced is Sequenced<Projected[W]> {
  return sequenced.entry.op === "store";
}

/** Returns the number of an earlier memory that an entry makes every replica forget. */
export function forgottenBy(entry: Entry<"header">): number | undefined {
  if (entry.op === "delete") return entry.target;
  return entry.op === "store" || entry.op === "erased" ? entry.replaces : undefined;
}

/** Reduces a memory to what remains of it when it is erased. */
export function remainderOf(memory: MemoryHeader): Erased {
  const { opId, id, tokens, createdAtMs, updatedAtMs, replaces, supersedes } = memory;
  return {
    op: "erased",
    opId,
    id,
    tokens,
    createdAtMs,
    ...(updatedAtMs !== undefined && { updatedAtMs }),
    ...(replaces !== undefined && { replaces }),
    ...(supersedes !== undefined && { supersedes }),
  };
}

export interface Sequenced<E extends Entry<"header"> = Entry> {
  readonly sequence: number;
  readonly entry: E;
}

/**
 * The port to the logs. Every adapter passes `test/contract/log.ts`.
 *
 * All methods throw MemoryError `unavailable` if the database cannot answer; after such an error a write may
 * have happened or not.
 */
export interface Log {
  /**
   * Inserts the entries at `from`, `from` + 1, … in this order, each only if its number is free, and stops at
   * the first that is taken. Returns how many were inserted, once they survive a crash.
   */
  append(batch: Batch): Promise<number>;

  /**
   * Reads the entries from number `from` on, dense and in order; only entries that survive a crash. It
   * answers at most `limit`, and no more than a slice (`bounds.ts`) holds: the entry that fills it is the
   * last. If the read takes long, it answers fewer, but at least one.
   * A Lost entry stands for a missing or unreadable number before later ones.
   */
  read<W extends Projection>(range: Range<W>): Promise<Tail<W>>;

  /** Reads the last entry; undefined if the log is empty. */
  last(logId: string): Promise<Sequenced<Entry<"header">> | undefined>;

  /**
   * Reads the memories with these numbers, from the highest number down, and no more than a slice
   * (`bounds.ts`) holds. Erased memories and other entries are left out. At least one number is looked up.
   */
  fetch<W extends Projection>(request: Sequences & { projection: W }): Promise<Fetched<W>>;

  /**
   * Turns memories into Erased entries: text, vector, metadata and external id are gone once this resolves.
   * Numbers without a memory are ignored.
   */
  erase(request: Sequences): Promise<void>;

  /** Measures a log's present contents, without erased memories. */
  measure(request: { logId: string }): Promise<Measured>;

  /** Lists the logs that have entries, including dropped ones, in order, after the given one. */
  logIds(request: { after: string; limit: number }): Promise<string[]>;
}

/** Entries to append at the numbers from `from` on. */
export interface Batch {
  readonly logId: string;
  readonly from: number;
  readonly entries: readonly Appended[];
}

/** Reads the entry with a number; undefined if the log is shorter. */
export async function entryAt(
  log: Pick<Log, "read">,
  logId: string,
  sequence: number,
): Promise<Entry<"header"> | undefined> {
  const { entries } = await log.read({ logId, from: sequence, limit: 1, projection: "header" });
  return entries[0]?.entry;
}

export interface Sequences {
  readonly logId: string;
  readonly sequences: readonly number[];
}

/** A range of a log, and the parts of its memories to read. */
export interface Range<W extends Projection = Projection> {
  readonly logId: string;
  readonly from: number;
  readonly limit: number;
  readonly projection: W;
}

export interface Tail<W extends Projection> {
  readonly entries: Sequenced<Entry<W>>[];
  /** True if these were all entries at some moment after the call began. */
  readonly complete: boolean;
}

export interface Fetched<W extends Projection> {
  readonly found: Sequenced<Projected[W]>[];
  /** Numbers that were not looked up; all are lower than those that were. */
  readonly rest: readonly number[];
}

export function hasText(projection: Projection): boolean {
  return projection === "all" || projection === "text";
}

export function hasVectors(projection: Projection): boolean {
  return projection === "all" || projection === "vectors";
}

export interface Measured {
  readonly memories: number;
  /** Bytes of all texts and metadata. */
  readonly bytes: number;
}
