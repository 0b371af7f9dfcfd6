import type { Flat } from "../../../src/index/flat.js";
import { Bits } from "../../../src/index/rows/bits.js";
import { mergeWords } from "../../../src/index/words/merge.js";
import type { WordSegment } from "../../../src/index/words/part.js";
import { WordPart } from "../../../src/index/words/part.js";
import { rowWordsOf } from "../../../src/index/words/row-words.js";

/** A memory as these tests have it. */
export interface TextRow {
  readonly sequence: number;
  readonly text: string;
}

/** Rows that make a segment at once; of more, several are merged. */
const AT_ONCE = 256;

/** A segment whose rows can be removed, as the log's index does it. */
export class TestSegment implements WordSegment {
  readonly live: Bits;
  living: number;

  constructor(
    readonly sequences: Float64Array,
    readonly words: WordPart,
  ) {
    this.live = Bits.all(sequences.length);
    this.living = sequences.length;
  }

  static build(this: void, rows: readonly TextRow[]): TestSegment {
    if (rows.length > AT_ONCE) {
      const slices = Array.from({ length: Math.ceil(rows.length / AT_ONCE) }, (_, i) =>
        rows.slice(i * AT_ONCE, (i + 1) * AT_ONCE),
      );
      return merged(slices.map(TestSegment.build));
    }
    const sequences = Float64Array.from(rows, ({ sequence }) => sequence);
    return new TestSegment(sequences, WordPart.build(rows.map(({ text }) => rowWordsOf(text))));
  }

  /** Removes a memory if it lives here; lists the ranges that were overwritten. */
  remove(sequence: number): { array: Flat; from: number; to: number }[] {
    const overwritten: { array: Flat; from: number; to: number }[] = [];
    const row = this.sequences.indexOf(sequence);
    if (row < 0 || !this.live.has(row)) return overwritten;
    this.live.remove(row);
    this.living--;
    this.words.remove(row, (array, from, to) => overwritten.push({ array, from, to }));
    return overwritten;
  }
}

/** Merges segments; `onYield` may remove memories from them. */
export function merged(segments: readonly TestSegment[], onYield: () => void = () => {}): TestSegment {
  const rows = segments.flatMap((segment, i) =>
    [...segment.sequences].map((sequence, row) => ({ sequence, row, i, lives: segment.live.has(row) })),
  );
  const living = rows.filter(({ lives }) => lives).sort((a, b) => a.sequence - b.sequence);
  const inputs = segments.map(({ words, sequences }) => ({
    part: words.arrays,
    newRowOf: new Int32Array(sequences.length).fill(-1),
  }));
  for (const [newRow, { row, i }] of living.entries()) (inputs[i]?.newRowOf as Int32Array)[row] = newRow;
  const part = new WordPart(stepped(mergeWords(inputs, living.length), onYield));
  const sequences = Float64Array.from(living, ({ sequence }) => sequence);
  const segment = new TestSegment(sequences, part);
  for (const { sequence, row, i } of living) if (!segments[i]?.live.has(row)) segment.remove(sequence);
  return segment;
}

/** Runs work to its end, with other work whenever it yields. */
export function stepped<T>(work: Generator<void, T>, onYield: () => void): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    onYield();
  }
}
