import type { Database, RootDatabase } from "lmdb";
import { Piece } from "../../memory/bounds.js";
import type { Entry, Log, Measured, Numbered, Stored, What } from "../../memory/log.js";
import { lost } from "../intact.js";
import { decode, encode } from "./record.js";

type Key = [incarnation: string, sequence: number];
type IdKey = [incarnation: string, id: string];
/** Where a memory is, and how long its text and metadata are: to count them, none has to be read. */
type Place = [sequence: number, bytes: number];
/** In place of the length, once the memory was erased: no other may ever take its id in this log. */
const ERASED = -1;

/** Memories counted before other work gets its turn: they take less than a millisecond. */
const SLICE_MEMORIES = 256;
/** Memories passed over at a time when they are only counted: it takes about a millisecond. */
const COUNT_MEMORIES = 10_000;
/** Sorts behind every id. */
const AFTER_ALL = "~";

/** The entries of all logs, and the number of each memory's id. Whatever writes, runs in a transaction. */
export class Entries {
  readonly db: Database<Buffer, Key>;
  readonly #ids: Database<Place, IdKey>;
  /** How many of an incarnation's ids are of erased memories. */
  readonly #erased: Database<number, string>;

  constructor(root: RootDatabase) {
    this.db = root.openDB("log", { encoding: "binary" });
    this.#ids = root.openDB("ids", { encoding: "json" });
    this.#erased = root.openDB("erased-counts", { encoding: "json" });
  }

  /** Each only if its number is free; answers how many it took in before one that is not. */
  insert({ incarnation, from, entries }: Parameters<Log["append"]>[0]): number {
    for (const [i, entry] of entries.entries()) {
      const sequence = from + i;
      if (this.db.doesExist([incarnation, sequence])) return i;
      this.db.putSync([incarnation, sequence], encode(entry));
      if (entry.op === "store") this.#ids.putSync([incarnation, entry.id], [sequence, bytesOf(entry)]);
      // Of a copy: what stood for a lost entry has no id.
      if (entry.op === "erased" && entry.id !== "") this.#markErased([incarnation, entry.id], sequence);
    }
    return entries.length;
  }

  /** The entry with this number, or what stands for it when it is missing and later ones are there. */
  get<W extends What>(key: Key, what: W): Entry<W> | undefined {
    // The buffer is the database's own, which its next read overwrites; decoding copies what it keeps.
    const record = this.db.getBinaryFast(key);
    if (record !== undefined) return decode(record.subarray(0, record.length), what);
    return this.#isBeforeOthers(key) ? lost("it is missing") : undefined;
  }

  last(incarnation: string): Numbered<Entry<"head">> | undefined {
    const backwards = { start: [incarnation, Number.MAX_SAFE_INTEGER], end: [incarnation, 0], reverse: true };
    const [last] = this.db.getRange({ ...backwards, limit: 1 });
    return last && { sequence: last.key[1], entry: decode(last.value, "head") };
  }

  incarnations(after: string, limit: number): string[] {
    const found: string[] = [];
    for (let last = after; found.length < limit; ) {
      // Behind all entries of the last one stands the first of the next.
      const [next] = this.db.getKeys({ start: [last, Number.MAX_SAFE_INTEGER], limit: 1 });
      if (next === undefined) break;
      last = next[0];
      found.push(last);
    }
    return found;
  }

  locate(incarnation: string, id: string): number | undefined {
    const [sequence, bytes] = this.#ids.get([incarnation, id]) ?? [];
    return bytes === ERASED ? undefined : sequence;
  }

  numberOf(incarnation: string, id: string): number | undefined {
    return this.#ids.get([incarnation, id])?.[0];
  }

  /** Counts in slices: yields between them, and what it has so far. */
  *measure(incarnation: string): Generator<Measured> {
    let [memories, bytes] = [0, 0];
    for (let start: IdKey = [incarnation, ""], read = SLICE_MEMORIES; read === SLICE_MEMORIES; ) {
      read = 0;
      const range = { start, end: [incarnation, AFTER_ALL], exclusiveStart: true, limit: SLICE_MEMORIES };
      for (const { key, value } of this.#ids.getRange(range)) {
        start = key;
        read++;
        if (value[1] === ERASED) continue;
        bytes += value[1];
        memories++;
      }
      yield { memories, bytes };
    }
  }

  /** Counts in slices as `measure` does, but reads no record: the database passes over the keys itself. */
  *count(incarnation: string): Generator<number, number> {
    const end: IdKey = [incarnation, AFTER_ALL];
    let counted = -(this.#erased.get(incarnation) ?? 0);
    for (let start: IdKey = [incarnation, ""]; ; counted += COUNT_MEMORIES) {
      const [next] = this.#ids.getKeys({ start, end, offset: COUNT_MEMORIES, limit: 1 });
      if (next === undefined) return counted + this.#ids.getKeysCount({ start, end, limit: COUNT_MEMORIES });
      start = next;
      yield counted;
    }
  }

  /** As many as one piece of work has time for, at least one; answers how many. */
  eraseSome(incarnation: string, sequences: readonly number[]): number {
    const piece = new Piece();
    let erased = 0;
    for (const sequence of sequences) {
      this.#erase([incarnation, sequence]);
      erased++;
      if (piece.isOver) break;
    }
    return erased;
  }

  #erase(key: Key): void {
    const entry = this.get(key, "head");
    if (entry?.op !== "store") return;
    const { opId, id, tokens, createdAtMs } = entry;
    this.db.putSync(key, encode({ op: "erased", opId, id, tokens, createdAtMs }));
    this.#markErased([key[0], id], key[1]);
  }

  #markErased(key: IdKey, sequence: number): void {
    this.#ids.putSync(key, [sequence, ERASED]);
    this.#erased.putSync(key[0], (this.#erased.get(key[0]) ?? 0) + 1);
  }

  #isBeforeOthers([incarnation, sequence]: Key): boolean {
    const end: Key = [incarnation, Number.MAX_SAFE_INTEGER];
    return this.db.getKeysCount({ start: [incarnation, sequence], end, limit: 1 }) > 0;
  }
}

function bytesOf({ text, metadata }: Stored): number {
  return Buffer.byteLength(text) + Buffer.byteLength(metadata);
}
