import { type Subject, testerOf } from "../filter/matches.js";
import type { JsonObject } from "../input/json-object.js";
import type { Condition, Field, SystemField, Test } from "../ports/condition.js";
import type { Times } from "../ports/event-order.js";
import { Bits } from "./bits.js";
import { Column } from "./column.js";
import { grown } from "./grown.js";
import { Paths } from "./paths.js";
import { placeOf } from "./place-of.js";
import { Selection } from "./selection.js";

/** Number of rows looked at before other work may get its turn. */
const SLICE_ROWS = 65_536;
/** Number of column look-ups for removals of which the index is built anew instead: there are too many paths. */
const REMOVALS_MAX = 100_000;
/** Number of removed rows above which more of them than living ones are too many. */
const GONE_MIN = 16_384;

/** Log numbers of the memories that a filter names by id. */
export type Ids = ReadonlyMap<unknown, number>;

/** Rows that a condition selects. */
export interface Selected {
  readonly selection: Selection;
  /** Memories that the index had no room for: whether they match, their entries in the log tell. */
  readonly unknown: readonly number[];
}

/** The fields of a log's memories, in columns. A row is a memory, in the order of the log. */
export class FieldIndex {
  /** Number of memories in it. */
  living = 0;
  #size = 0;
  #sequences = new Float64Array(0);
  #created = new Float64Array(0);
  /** Times of the last change; empty until a memory has one that differs from its creation. */
  #updated = new Float64Array(0);
  /** Event times; empty until a memory has one of its own. */
  #events = new Float64Array(0);
  #removed = new Bits(0);
  /** Rows whose metadata did not fit. */
  #left = new Bits(0);
  #hasLeft = false;
  readonly #externalIds = new Column();
  readonly #paths = new Paths();

  /** @param bytesMax size from which on metadata is not added any more */
  constructor(private readonly bytesMax: number) {}

  get bytes(): number {
    const times = this.#created.byteLength + this.#updated.byteLength + this.#events.byteLength;
    const numbers = this.#sequences.byteLength + times;
    return numbers + this.#removed.bytes + this.#left.bytes + this.#externalIds.bytes + this.#paths.bytes;
  }

  /** True if it should be built anew, because most of it is of removed memories. */
  get isWasteful(): boolean {
    return this.#size - this.living > Math.max(GONE_MIN, this.living);
  }

  /** Adds a memory, whose log number is above all others. */
  add(sequence: number, subject: Subject): void {
    const row = this.#size++;
    this.#reserve(row);
    this.#sequences[row] = sequence;
    this.#created[row] = subject.createdAtMs;
    this.#updated = this.#withTime(this.#updated, row, subject.updatedAtMs);
    this.#events = this.#withTime(this.#events, row, subject.eventAtMs);
    this.living++;
    if (this.bytes < this.bytesMax) {
      if (subject.externalId !== undefined) this.#externalIds.add(row, subject.externalId, false);
      this.#paths.add(row, JSON.parse(subject.metadata) as JsonObject);
    } else {
      this.#left.add(row);
      this.#hasLeft = true;
    }
  }

  /** Tells whether so few values have to be looked for that some memories can be removed at once. */
  canRemove(memories: number): boolean {
    return memories * this.#paths.size <= REMOVALS_MAX;
  }

  /** Tells whether it has a memory. */
  has(sequence: number): boolean {
    const row = this.#firstFrom(sequence);
    return row < this.#size && this.#sequences[row] === sequence && !this.#removed.has(row);
  }

  /** The times at which all its memories happened, also those that were removed. */
  get times(): Times {
    const [sequences, events] = [this.#sequences, this.#numbersOf("$event_time")];
    return { sequences: sequences.subarray(0, this.#size), events };
  }

  /** The time at which a memory happened; undefined if it has none with this number. */
  eventAtMsOf(sequence: number): number | undefined {
    return this.has(sequence) ? this.#numbersOf("$event_time")[this.#firstFrom(sequence)] : undefined;
  }

  /** Removes a memory with all its values. Unknown numbers are ignored. */
  remove(sequence: number): void {
    if (!this.has(sequence)) return;
    const row = this.#firstFrom(sequence);
    this.#removed.add(row);
    this.living--;
    this.#externalIds.remove(row);
    this.#paths.remove(row);
  }

  /**
   * Selects the memories that match a condition and live when it returns. What is added meanwhile is not
   * among them. It yields often.
   */
  *select(condition: Condition, ids: Ids): Generator<void, Selected> {
    const end = this.#size;
    const rows = yield* this.#rowsOf(condition, { end, ids });
    const unknown = this.#hasLeft ? yield* this.#unknown(end) : [];
    rows.subtract(this.#removed);
    rows.subtract(this.#left);
    return { selection: new Selection(this.#sequences, rows), unknown };
  }

  /** Lists the living memories that did not fit. */
  *#unknown(end: number): Generator<void, number[]> {
    const unknown: number[] = [];
    for (let row = 0; row < end; row++) {
      if (row % SLICE_ROWS === 0) yield;
      if (this.#left.has(row) && !this.#removed.has(row)) unknown.push(this.#sequences[row] as number);
    }
    return unknown;
  }

  *#rowsOf(condition: Condition, of: { end: number; ids: Ids }): Generator<void, Bits> {
    if (condition.kind === "not") {
      const rows = yield* this.#rowsOf(condition.of, of);
      rows.invert();
      return rows;
    }
    if (condition.kind === "test") {
      const rows = new Bits(of.end);
      yield* this.#select(condition, { rows, ids: of.ids });
      return rows;
    }
    const [first, ...others] = condition.of;
    const rows = first === undefined ? new Bits(of.end) : yield* this.#rowsOf(first, of);
    for (const other of others) {
      const more = yield* this.#rowsOf(other, of);
      if (condition.kind === "all") rows.intersect(more);
      else rows.join(more);
      yield;
    }
    return rows;
  }

  *#select(
    { field, test }: { field: Field; test: Test },
    { rows, ids }: { rows: Bits; ids: Ids },
  ): Generator<void> {
    if (typeof field !== "string") yield* this.#paths.find(field)?.select(test, rows) ?? [];
    else if (field === "$external_id") yield* this.#externalIds.select(test, rows);
    else if (field === "$id" && test.op === "in") this.#byId(test.values, { rows, ids });
    else yield* this.#byNumber(test, { rows, numbers: () => this.#numbersOf(field) });
  }

  #byId(values: ReadonlySet<unknown>, { rows, ids }: { rows: Bits; ids: Ids }): void {
    for (const value of values) {
      const sequence = ids.get(value);
      if (sequence === undefined) continue;
      const row = this.#firstFrom(sequence);
      if (row < rows.length && this.#sequences[row] === sequence) rows.add(row);
    }
  }

  *#byNumber(test: Test, { rows, numbers }: { rows: Bits; numbers: () => Float64Array }): Generator<void> {
    const passes = testerOf(test);
    for (let from = 0; from < rows.length; from += SLICE_ROWS) {
      const column = numbers();
      const to = Math.min(rows.length, from + SLICE_ROWS);
      for (let row = from; row < to; row++) if (passes(column[row] as number, false)) rows.add(row);
      yield;
    }
  }

  #numbersOf(field: SystemField): Float64Array {
    const own = { $updated_at: this.#updated, $event_time: this.#events }[field as string];
    return own !== undefined && own.length > 0 ? own : this.#created;
  }

  /** Returns a column with the time of a new row, by default that of its creation. */
  #withTime(column: Float64Array<ArrayBuffer>, row: number, timeMs = this.#created[row] as number) {
    if (column.length === 0 && timeMs === this.#created[row]) return column;
    const times = column.length === 0 ? this.#created.slice() : grown(column, row + 1);
    times[row] = timeMs;
    return times;
  }

  #reserve(row: number): void {
    this.#sequences = grown(this.#sequences, row + 1);
    this.#created = grown(this.#created, row + 1);
    this.#removed = this.#removed.reserved(row);
    this.#left = this.#left.reserved(row);
  }

  /** Finds the first row whose log number is at least this. */
  #firstFrom(sequence: number): number {
    return placeOf(this.#sequences, sequence, this.#size);
  }
}
