import { setImmediate as nextIteration } from "node:timers/promises";
import { Budget } from "../../../concurrency/budget.js";
import { TIME_SLICE_MS_MAX, TimeSlice } from "../../../concurrency/time-slices.js";
import { appendInSlices, SLICE_BYTES_MAX, Slice } from "../../../memory/ports/bounds.js";
import {
  type Batch,
  type Entry,
  type Fetched,
  type Log,
  type Measured,
  type MemoryHeader,
  type Projected,
  type Projection,
  type Range,
  remainderOf,
  type Sequenced,
  type Sequences,
  type Tail,
} from "../../../memory/ports/log.js";
import { durably, reading, WRITE_TIMEOUT_MS } from "../durably.js";
import { decode, type Entries, encode, type Key } from "./entries.js";
import type { LocalSecondaryIndexes } from "./secondary-indexes.js";

/** Maximum number of waiting writes; each is of another namespace, or a deletion. */
const WRITES_WAITING_MAX = 10_000;
/** Most entries that a call reads at a time to answer; whoever reads a log from end to end reads more. */
const FEW = 200;
/** Weight of erasing one entry: it takes about as long as writing this many bytes. */
const ERASE_BYTES = 65_536;
/** Record of a damaged entry that was erased: it has no header, so it is unreadable as before. */
const NOTHING = Buffer.alloc(4);

export class LocalLog implements Log {
  readonly #brief = new Reads();
  readonly #long = new Reads();
  /** Limit for waiting transactions: they run together, and nothing else runs meanwhile. */
  readonly #writes = new Budget({
    max: SLICE_BYTES_MAX,
    waitingMax: WRITES_WAITING_MAX,
    waitMs: WRITE_TIMEOUT_MS,
    what: "writes",
  });

  constructor(
    private readonly entries: Entries,
    private readonly options: {
      readonly secondaryIndexes: LocalSecondaryIndexes;
      /** Called before each append, to queue what must be on the disk no later than its entries. */
      beforeAppend(): void;
    },
  ) {}

  append(batch: Batch): Promise<number> {
    return appendInSlices(batch, (slice, bytes) =>
      this.#writes.run(bytes, () => {
        this.options.beforeAppend();
        return this.entries.append(slice.logId, () => this.#insert(slice));
      }),
    );
  }

  async read<W extends Projection>({ logId, from, limit, projection }: Range<W>): Promise<Tail<W>> {
    const reads = this.#readsOf(limit, projection);
    while (reads.pause !== undefined) await reads.pause;
    const slice = new Slice<Entry<W>>(limit);
    const beganMs = performance.now();
    const timeSlice = new TimeSlice();
    let complete = false;
    // At least one entry is read, however late this process is: a call that asks for one must get it.
    for (
      let sequence = from;
      !complete && !slice.isFull && !(timeSlice.isOver && sequence > from);
      sequence++
    ) {
      const entry = reading(() => this.entries.get([logId, sequence], projection));
      if (entry === undefined) complete = true;
      else slice.add(sequence, entry);
    }
    reads.count(beganMs);
    return this.entries.settled(logId, () => ({ entries: slice.entries, complete }));
  }

  async last(logId: string): Promise<Sequenced<Entry<"header">> | undefined> {
    const backwards = { start: [logId, Number.MAX_SAFE_INTEGER], end: [logId, 0], reverse: true, limit: 1 };
    return this.entries.settled(logId, () => {
      const [last] = this.entries.db.getRange(backwards);
      return last && { sequence: last.key[1], entry: decode(last.value, "header") };
    });
  }

  async fetch<W extends Projection>({
    logId,
    sequences,
    projection,
  }: Sequences & { projection: W }): Promise<Fetched<W>> {
    const reads = this.#readsOf(sequences.length, projection);
    while (reads.pause !== undefined) await reads.pause;
    const downwards = [...sequences].sort((a, b) => b - a);
    const slice = new Slice<Projected[W]>();
    const beganMs = performance.now();
    const timeSlice = new TimeSlice();
    let read = 0;
    // At least one is read, as above.
    while (read < downwards.length && !slice.isFull && !(timeSlice.isOver && read > 0)) {
      const sequence = downwards[read++] as number;
      const entry = reading(() => this.entries.get([logId, sequence], projection));
      if (entry?.op === "store") slice.add(sequence, entry as Projected[W]);
    }
    reads.count(beganMs);
    return { found: slice.entries, rest: downwards.slice(read) };
  }

  async erase({ logId, sequences }: Sequences): Promise<void> {
    // Nothing else runs during a transaction, so each erases for a short time.
    for (let erased = 0; erased < sequences.length; ) {
      const rest = sequences.slice(erased);
      const erase = () => durably(this.entries.db, () => this.#eraseSome({ logId, sequences: rest }));
      erased += await this.#writes.run(rest.length * ERASE_BYTES, erase);
    }
  }

  async measure({ logId }: { logId: string }): Promise<Measured> {
    return this.entries.settled(logId, () => this.options.secondaryIndexes.measure(logId));
  }

  async logIds({ after, limit }: { after: string; limit: number }): Promise<string[]> {
    return reading(() => {
      const found: string[] = [];
      for (let last = after; found.length < limit; ) {
        // After all entries of the log comes the first entry of the next one.
        const start = [last, Number.MAX_SAFE_INTEGER];
        const [next] = this.entries.db.getKeys({ start, limit: 1 });
        if (next === undefined) break;
        last = next[0];
        found.push(last);
      }
      return found;
    });
  }

  /** A recall does not wait for the pages of lists, nor for namespaces that are being opened. */
  #readsOf(entries: number, projection: Projection): Reads {
    return entries <= FEW && (entries === 1 || projection !== "text") ? this.#brief : this.#long;
  }

  /** Inserts each entry if its number is free; returns how many it inserted before one that is not. */
  #insert({ logId, from, entries }: Batch): number {
    const { db } = this.entries;
    for (const [i, entry] of entries.entries()) {
      const key: Key = [logId, from + i];
      if (db.doesExist(key)) return i;
      db.putSync(key, encode(entry));
      this.options.secondaryIndexes.insert(key, entry);
    }
    return entries.length;
  }

  /** Erases as many as fit into one time slice, at least one; returns how many. */
  #eraseSome({ logId, sequences }: Sequences): number {
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
    const { secondaryIndexes } = this.options;
    const entry = this.entries.get(key, "header");
    if (entry?.op === "store") {
      const memory = entry as MemoryHeader;
      this.entries.db.putSync(key, encode(remainderOf(memory)));
      secondaryIndexes.erase(key, memory);
    } else if (entry?.op === "lost") {
      // A damaged entry may still hold a text.
      this.entries.db.putSync(key, NOTHING);
      secondaryIndexes.eraseLost(key);
    }
  }
}

/** Reads of one kind, which wait for each other alone. */
class Reads {
  /** Time that they have taken in this iteration of the event loop. */
  #ms = 0;
  /** Pause after a long read, or many short ones, so that other work runs first. */
  pause: Promise<void> | undefined;

  /**
   * Counts what a read has taken. If it was long, or the last of many in one iteration, the next one waits until
   * connections were served; it holds nothing yet.
   */
  count(beganMs: number): void {
    if (this.#ms === 0)
      setImmediate(() => {
        this.#ms = 0;
      });
    this.#ms += performance.now() - beganMs;
    if (this.#ms < TIME_SLICE_MS_MAX) return;
    this.pause = nextIteration().finally(() => {
      this.pause = undefined;
    });
  }
}
