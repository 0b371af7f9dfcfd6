import type { IndexRow } from "../memory/ports/index.js";
import { type FieldLists, FieldPart, mergeFields } from "./fields/field-part.js";
import { rowFieldsOf } from "./fields/row-fields.js";
import type { Flat, FlatArrays, MergeInput } from "./flat.js";
import { Bits } from "./rows/bits.js";
import { rowOf } from "./rows/memories.js";
import type { AnySegment, Overwriting, Range } from "./segment-file.js";
import { mergeWords, type WordLists } from "./words/merge.js";
import { WordPart } from "./words/part.js";
import { rowWordsOf } from "./words/row-words.js";

/** Rows copied before other work may run. */
const SLICE_ROWS = 8_192;

/** A memory, tokenised and flattened once. */
export interface Row {
  readonly sequence: number;
  readonly words: WordLists;
  readonly fields: FieldLists;
}

export function readRow({ sequence, memory }: IndexRow): Row {
  if (memory === undefined) throw new Error(`the words of memory ${sequence} are missing`);
  return { sequence, words: rowWordsOf(memory.text), fields: rowFieldsOf(memory) };
}

/**
 * The memories of a range of the log, in flat arrays that never change, but for a memory that is removed: it is
 * overwritten in all of them.
 */
export class Segment implements AnySegment {
  readonly part = "words";
  /** Number of memories that were not removed. */
  living: number;

  private constructor(
    readonly range: Range,
    /** Log numbers of its rows, in order. */
    readonly sequences: Float64Array,
    readonly live: Bits,
    readonly words: WordPart,
    readonly fields: FieldPart,
  ) {
    this.living = live.count();
  }

  static build(range: Range, rows: readonly Row[]): Segment {
    const sequences = Float64Array.from(rows, ({ sequence }) => sequence);
    const words = WordPart.build(rows.map((row) => row.words));
    const fields = FieldPart.build(rows.map((row) => row.fields));
    return new Segment(range, sequences, Bits.all(rows.length), words, fields);
  }

  /**
   * Merges neighbours without what was removed from them, also while it waits. Between two yields it takes less than a
   * millisecond.
   */
  static *merged(segments: readonly Segment[]): Generator<void, Segment> {
    const lived = segments.map(({ live }) => live.words.slice());
    const sequences = new Float64Array(segments.reduce((sum, { living }) => sum + living, 0));
    let rows = 0;
    const newRows: Int32Array[] = [];
    for (const segment of segments) {
      const newRowOf = new Int32Array(segment.sequences.length).fill(-1);
      for (let row = 0; row < newRowOf.length; row++) {
        if (row % SLICE_ROWS === SLICE_ROWS - 1) yield;
        if (!segment.live.has(row)) continue;
        sequences[rows] = segment.sequences[row] as number;
        newRowOf[row] = rows++;
      }
      newRows.push(newRowOf);
    }
    yield;
    const inputs = <P>(partOf: (segment: Segment) => P): MergeInput<P>[] =>
      segments.map((segment, i) => ({ part: partOf(segment), newRowOf: newRows[i] as Int32Array }));
    const ofWords = inputs((segment) => segment.words.arrays);
    const words = new WordPart(yield* mergeWords(ofWords, rows));
    yield;
    const ofFields = inputs((segment) => segment.fields.arrays);
    const fields = yield* mergeFields(ofFields, rows);
    const [first, last] = [segments[0] as Segment, segments.at(-1) as Segment];
    const range = { after: first.range.after, upto: last.range.upto };
    // Some rows may have been removed since they were counted.
    const merged = new Segment(range, sequences.subarray(0, rows), Bits.all(rows), words, fields);
    for (const [i, segment] of segments.entries()) {
      const removed = segment.removedSince(lived[i] as Uint32Array);
      for (const sequence of removed) merged.remove(sequence, { ranges: [], rows: [] });
    }
    return merged;
  }

  /** Makes a segment of the arrays of another one. */
  static from(range: Range, arrays: FlatArrays): Segment {
    const sequences = arrays.sequences as Float64Array;
    const live = new Bits(sequences.length, arrays.live as Uint32Array);
    const words = new WordPart(partOf(arrays, "words"));
    return new Segment(range, sequences, live, words, new FieldPart(partOf(arrays, "fields")));
  }

  /** All that it holds. */
  get arrays(): FlatArrays {
    const { words, fields } = this;
    return {
      sequences: this.sequences,
      live: this.live.words,
      ...prefixed(words.arrays, "words"),
      ...prefixed(fields.arrays, "fields"),
    };
  }

  get rows(): number {
    return this.sequences.length;
  }

  get removed(): number {
    return this.rows - this.living;
  }

  get bytes(): number {
    return this.sequences.byteLength + this.live.words.byteLength + this.words.bytes + this.fields.bytes;
  }

  has(sequence: number): boolean {
    return rowOf(this, sequence) >= 0;
  }

  /** The time at which a memory happened; undefined if it does not live here. */
  eventAtMsOf(sequence: number): number | undefined {
    return this.fields.arrays.events[rowOf(this, sequence)];
  }

  /** Lists its memories that were removed since it had these living rows. */
  removedSince(lived: Uint32Array): number[] {
    const removed = new Bits(this.rows, lived.slice());
    removed.subtract(this.live);
    return [...removed.list(this.sequences, { from: 0, to: this.rows })];
  }

  /** Overwrites a memory in all arrays; false if it does not live here. */
  remove(sequence: number, { ranges }: Overwriting): boolean {
    const row = rowOf(this, sequence);
    if (row < 0) return false;
    const overwritten = (array: Flat, from: number, to: number) => {
      if (from < to) ranges.push({ array, from, to });
    };
    this.live.remove(row);
    overwritten(this.live.words, row >>> 5, (row >>> 5) + 1);
    this.words.remove(row, overwritten);
    this.fields.remove(row, overwritten);
    this.living--;
    return true;
  }
}

function prefixed(arrays: FlatArrays, part: string): Record<string, Flat> {
  return Object.fromEntries(Object.entries(arrays).map(([name, array]) => [`${part}.${name}`, array]));
}

function partOf(arrays: FlatArrays, part: string): Record<string, Flat> {
  const own = Object.entries(arrays).filter(([name]) => name.startsWith(`${part}.`));
  return Object.fromEntries(own.map(([name, array]) => [name.slice(part.length + 1), array]));
}
