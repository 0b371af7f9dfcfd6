import { WEIGHTS, weightIndexOf } from "../../../src/index/words/scoring.js";
import { wordsIn } from "../../../src/index/words/words-in.js";
import type { WordMatch } from "../../../src/memory/ports/index.js";
import { run } from "./run.js";
import type { TextRow } from "./segments.js";

/** Computes what an index must answer from the texts, in the plainest way. */
export class Model {
  readonly texts = new Map<number, string>();

  add(rows: readonly TextRow[]): void {
    for (const { sequence, text } of rows) this.texts.set(sequence, text);
  }

  remove(sequences: readonly number[]): void {
    for (const sequence of sequences) this.texts.delete(sequence);
  }

  search({ text, limit }: { text: string; limit: number }): { ideal: number; matches: WordMatch[] } {
    const all = this.#all();
    const matches = all.map(({ sequence }) => ({ sequence, score: 0 }));
    let ideal = 0;
    for (const [word, { times, inIdentifiers }] of run(wordsIn(text, "query")).counts) {
      const holding = all.filter(({ counts }) => counts.has(word)).length;
      const rarity = Math.log(1 + (all.length - holding + 0.5) / (holding + 0.5));
      ideal += (holding > 0 ? times + inIdentifiers : times) * rarity;
      all.forEach((memory, i) => {
        const each = matches[i] as { score: number };
        each.score += this.#gain(memory, { word, factor: (times + inIdentifiers) * rarity });
      });
    }
    const found = matches.filter(({ score }) => score > 0);
    found.sort((a, b) => b.score - a.score || a.sequence - b.sequence);
    return { ideal, matches: found.slice(0, limit) };
  }

  #gain({ counts, norm }: Memory, { word, factor }: { word: string; factor: number }): number {
    const count = counts.get(word);
    if (count === undefined) return 0;
    const weight = WEIGHTS[weightIndexOf(count.times + count.inIdentifiers)] as number;
    return (factor * weight * 1.9) / (weight + norm);
  }

  #all(): Memory[] {
    const read = [...this.texts].map(([sequence, text]) => ({ sequence, ...words(text) }));
    const meanLength = read.reduce((sum, { length }) => sum + length, 0) / read.length;
    return read.map((each) => ({ ...each, norm: 0.9 * (0.25 + (0.75 * each.length) / meanLength) }));
  }
}

interface Memory extends ReturnType<typeof words> {
  readonly sequence: number;
  readonly norm: number;
}

const known = new Map<string, { counts: ReturnType<typeof counted>; length: number }>();

function words(text: string) {
  const found = known.get(text) ?? { counts: counted(text), length: run(wordsIn(text, "memory")).length };
  known.set(text, found);
  return found;
}

function counted(text: string) {
  return run(wordsIn(text, "memory")).counts;
}
