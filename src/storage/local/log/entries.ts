import type { Database, RootDatabase } from "lmdb";
import { TimeSlice } from "../../../concurrency/time-slices.js";
import {
  type Entry,
  type Log,
  type Measured,
  type Projected,
  type Projection,
  remainderOf,
  type Sequenced,
  type Stored,
} from "../../../memory/ports/log.js";
import { lost } from "../../intact.js";
import { decode, encode } from "./record.js";
import { type Key, Relations } from "./relations.js";

type IdKey = [logId: string, id: string];
/** Position of a memory, and the length of its text and metadata, so that the count changes without reading an entry. */
type EntryOffset = [sequence: number, bytes: number];
/** Replaces the length after the memory is erased: no other memory may ever take its id in this log. */
const ERASED = -1;
/** Replaces the length in the row of an operation that wrote a later version of a memory. */
const OPERATION = -2;

/** The entries of all logs, and the number of each memory's id. Every write must run in a transaction. */
export class Entries {
  readonly db: Database<Buffer, Key>;
  readonly #ids: Database<EntryOffset, IdKey>;
  readonly #counts: Database<[memories: number, bytes: number], string>;
  readonly relations: Relations;

  constructor(root: RootDatabase) {
    this.db = root.openDB("log", { encoding: "binary" });
    this.#ids = root.openDB("ids", { encoding: "json" });
    this.#counts = root.openDB("counts", { encoding: "json" });
    this.relations = new Relations(root, (key) => this.get(key, "head")?.op === "store");
  }

  /** Inserts each entry if its number is free; returns how many it inserted before one that is not. */
  insert({ logId, from, entries }: Parameters<Log["append"]>[0]): number {
    for (const [i, entry] of entries.entries()) {
      const sequence = from + i;
      if (this.db.doesExist([logId, sequence])) return i;
      this.db.putSync([logId, sequence], encode(entry));
      if (entry.op === "store") this.#place([logId, entry.id], [sequence, bytesOf(entry)]);
      // In a copy, what replaces a lost entry has no id.
      if (entry.op === "erased" && entry.id !== "") this.#place([logId, entry.id], [sequence, ERASED]);
      if ((entry.op === "store" || entry.op === "erased") && entry.opId !== entry.id) {
        this.#ids.putSync([logId, entry.opId], [sequence, OPERATION]);
      }
      this.relations.insert([logId, sequence], entry);
    }
    return entries.length;
  }

  /** Returns the entry with this number, or a placeholder if it is missing and later ones exist. */
  get<W extends Projection>(key: Key, what: W): Entry<W> | undefined {
    // The buffer is the database's own, and its next read overwrites it; decoding copies what it keeps.
    const record = this.db.getBinaryFast(key);
    if (record !== undefined) return decode(record.subarray(0, record.length), what);
    return this.#isBeforeOthers(key) ? lost("it is missing") : undefined;
  }

  last(logId: string): Sequenced<Entry<"head">> | undefined {
    const backwards = { start: [logId, Number.MAX_SAFE_INTEGER], end: [logId, 0], reverse: true };
    const [last] = this.db.getRange({ ...backwards, limit: 1 });
    return last && { sequence: last.key[1], entry: decode(last.value, "head") };
  }

  logIds(after: string, limit: number): string[] {
    const found: string[] = [];
    for (let last = after; found.length < limit; ) {
      // After all entries of the log comes the first entry of the next one.
      const [next] = this.db.getKeys({ start: [last, Number.MAX_SAFE_INTEGER], limit: 1 });
      if (next === undefined) break;
      last = next[0];
      found.push(last);
    }
    return found;
  }

  locate(logId: string, id: string): number | undefined {
    const [sequence, bytes = ERASED] = this.#ids.get([logId, id]) ?? [];
    return bytes < 0 ? undefined : sequence;
  }

  /** Returns the numbers that operations wrote; one that stored a new memory has its id. */
  findByOperation(logId: string, opIds: readonly string[]): Map<string, number> {
    const numbers = new Map<string, number>();
    for (const opId of opIds) {
      const [sequence] = this.#ids.get([logId, opId]) ?? [];
      if (sequence !== undefined) numbers.set(opId, sequence);
    }
    return numbers;
  }

  measure(logId: string): Measured {
    const [memories, bytes] = this.#counts.get(logId) ?? [0, 0];
    return { memories, bytes };
  }

  /** Erases as many as fit into one time slice, at least one; returns how many. */
  eraseSome(logId: string, sequences: readonly number[]): number {
    const timeSlice = new TimeSlice();
    let erased = 0;
    for (const sequence of sequences) {
      this.#erase([logId, sequence]);
      erased++;
      if (timeSlice.isOver) break;
    }
    return erased;
  }

  #erase(key: Key): void {
    const entry = this.get(key, "head");
    if (entry?.op !== "store") return;
    const memory = entry as Projected["head"];
    this.db.putSync(key, encode(remainderOf(memory)));
    this.relations.erase(key, memory);
    const [logId, sequence] = key;
    // A later version of the memory may be there.
    if (this.locate(logId, memory.id) === sequence) this.#place([logId, memory.id], [sequence, ERASED]);
  }

  #place(key: IdKey, place: EntryOffset): void {
    const before = this.#ids.get(key);
    this.#ids.putSync(key, place);
    const [all, now, then] = [this.measure(key[0]), heldAt(place), heldAt(before)];
    const memories = all.memories + now.memories - then.memories;
    this.#counts.putSync(key[0], [memories, all.bytes + now.bytes - then.bytes]);
  }

  #isBeforeOthers([logId, sequence]: Key): boolean {
    const end: Key = [logId, Number.MAX_SAFE_INTEGER];
    return this.db.getKeysCount({ start: [logId, sequence], end, limit: 1 }) > 0;
  }
}

function heldAt([, bytes]: EntryOffset = [0, ERASED]): Measured {
  return bytes < 0 ? { memories: 0, bytes: 0 } : { memories: 1, bytes };
}

function bytesOf({ text, metadata }: Stored): number {
  return Buffer.byteLength(text) + Buffer.byteLength(metadata);
}
