import { FieldPart, mergeFields } from "../../../src/index/fields/field-part.js";
import { rowFieldsOf } from "../../../src/index/fields/row-fields.js";
import { type FieldSegment, selectRows } from "../../../src/index/fields/select-rows.js";
import type { Selection } from "../../../src/index/fields/selection.js";
import type { Flat, FlatArrays } from "../../../src/index/flat.js";
import { Bits } from "../../../src/index/rows/bits.js";
import type { Condition } from "../../../src/memory/ports/condition.js";
import { matches, type Subject } from "../../../src/memory/requests/matches.js";

/** Runs work to its end; `between` is called whenever it lets other work run. */
export function run<T>(work: Generator<void, T>, between = () => {}): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    between();
  }
}

/** A segment of fields, and a copy of its arrays, of which only what is reported is overwritten. */
class Segment implements FieldSegment {
  readonly live: Bits;
  readonly stored: FlatArrays;

  constructor(
    readonly sequences: Float64Array,
    readonly fields: FieldPart,
  ) {
    this.live = Bits.all(sequences.length);
    this.stored = copyOf(fields.arrays);
  }

  get living(): number {
    return this.live.count();
  }

  remove(row: number): void {
    if (row < 0) return;
    this.live.remove(row);
    this.fields.remove(row, (array, from, to) => {
      const name = Object.keys(this.stored).find((each) => this.fields.arrays[each] === array) as string;
      this.stored[name]?.set(array.subarray(from, to) as never, from);
    });
  }
}

export function copyOf(arrays: FlatArrays): FlatArrays {
  return Object.fromEntries(Object.entries(arrays).map(([name, array]) => [name, array.slice() as Flat]));
}

/** Segments with the memories that live in them. */
export class Segments {
  all: Segment[] = [];
  readonly living = new Map<number, Subject>();
  readonly ids = new Map<unknown, readonly number[]>();
  /** The highest log number that was added. */
  highest = 1;

  /** Adds a segment of memories. */
  add(subjects: ReadonlyMap<number, Subject>): void {
    for (const [sequence, subject] of subjects) {
      this.living.set(sequence, subject);
      this.highest = sequence;
      this.ids.set(subject.id, [sequence]);
    }
    const part = FieldPart.build([...subjects.values()].map(rowFieldsOf));
    this.all.push(new Segment(Float64Array.from(subjects.keys()), part));
  }

  remove(sequence: number): void {
    this.living.delete(sequence);
    for (const segment of this.all) segment.remove(segment.sequences.indexOf(sequence));
  }

  /** Merges some neighbours; `between` may remove memories. */
  merge(chosen: readonly Segment[], between: (remove: (sequence: number) => void) => void): void {
    const sequences = chosen
      .flatMap((segment) => [...segment.sequences].filter((_, row) => segment.live.has(row)))
      .sort((a, b) => a - b);
    const rowOf = new Map(sequences.map((sequence, row) => [sequence, row]));
    const inputs = chosen.map(({ fields, sequences: own, live }) => ({
      part: fields.arrays,
      newRowOf: Int32Array.from(own, (sequence, row) => (live.has(row) ? (rowOf.get(sequence) ?? -1) : -1)),
    }));
    const removed: number[] = [];
    const part = run(mergeFields(inputs, sequences.length), () =>
      between((sequence) => {
        this.remove(sequence);
        removed.push(sequence);
      }),
    );
    const merged = new Segment(Float64Array.from(sequences), part);
    for (const sequence of removed) merged.remove(rowOf.get(sequence) ?? -1);
    const [first] = chosen;
    const position = first === undefined ? this.all.length : this.all.indexOf(first);
    this.all = this.all.toSpliced(position, chosen.length, merged);
  }

  select(condition: Condition, between = () => {}): Selection {
    return run(selectRows(this.all, condition, this.ids), between);
  }

  /** Lists the memories that match, in order. */
  truth(condition: Condition): number[] {
    const found = [...this.living].filter(([, subject]) => matches(condition, subject));
    return found.map(([sequence]) => sequence).sort((a, b) => a - b);
  }

  /** True if any array, in memory or stored, has these bytes. */
  hold(bytes: Uint8Array): boolean {
    return this.bytes().some((array) => array.includes(Buffer.from(bytes)));
  }

  /** Returns the bytes of all arrays, in memory and stored. */
  bytes(): Buffer[] {
    return this.all
      .flatMap(({ fields, stored }) => [...Object.values(fields.arrays), ...Object.values(stored)])
      .map((array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength));
  }
}
