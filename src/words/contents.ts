import { hashOf } from "../index/words/hash.js";
import { gainOf, Norms, rarityOf } from "../index/words/scoring.js";
import type { Count, Words } from "../index/words/text/words-in.js";
import { placeOfWeight, WEIGHTS } from "../index/words/weights.js";
import type { WeighedQuery, WeighedWord, WordHit } from "../memory/ports/words.js";
import { type Cursor, seek } from "./postings/cursor.js";
import { Memories } from "./postings/memories.js";
import { memoryOf, weightPlaceOf } from "./postings/posting.js";
import { Postings } from "./postings/postings.js";

/** Number of postings read, or words written, before other work gets its turn: some tens of microseconds. */
const SLICE_POSTINGS = 8192;
const SLICE_WORDS = 1024;
/** Number of a query's words that are weighed, or scored for some memories, between two yields. */
const QUERY_WORDS = 64;

/** A word of a query, with a cursor at its first posting. */
export interface Sought {
  readonly factor: number;
  readonly cursor: Cursor;
}

/**
 * The words of a namespace's memories. Its generators yield often, and may be left for other work then, but
 * nothing may be written to it before they end.
 */
export class Contents {
  readonly memories = new Memories();
  readonly postings = new Postings();

  get bytes(): number {
    return this.memories.bytes + this.postings.bytes;
  }

  /** Adds a memory, whose log number is above all others. */
  *add(sequence: number, { counts, length }: Words): Generator<void> {
    const memory = this.memories.add(sequence, length);
    let written = 0;
    for (const [word, { times, inIdentifiers }] of counts) {
      this.postings.add(hashOf(word), memory, placeOfWeight(times + inIdentifiers));
      if (++written % SLICE_WORDS === 0) yield;
    }
  }

  /** Removes memories; answers how many lived here. Their postings stay, and are skipped. */
  remove(sequences: readonly number[]): number {
    return sequences.filter((sequence) => this.memories.remove(sequence)).length;
  }

  /** Weighs the words of a query by how many living memories have them. */
  *weigh(words: Words): Generator<void, WeighedQuery> {
    const weighed: WeighedWord[] = [];
    let ideal = 0;
    let read = 0;
    for (const [word, count] of words.counts) {
      const hash = hashOf(word);
      const holding = yield* this.#holding(this.postings.words.find(hash));
      const rarity = rarityOf(this.memories.living, holding);
      ideal += timesInIdeal(count, holding) * rarity;
      const factor = (count.times + count.inIdentifiers) * rarity;
      if (holding > 0) weighed.push({ ...hash, seen: count.seen, factor });
      if (++read % QUERY_WORDS === 0) yield;
    }
    const meanLength = this.memories.words / this.memories.living;
    return { words: weighed, ideal, meanLength, leftOut: words.leftOut };
  }

  /** Places a cursor for each word that the index has. */
  *seek({ words }: WeighedQuery): Generator<void, Sought[]> {
    const sought: Sought[] = [];
    for (const [i, { low, high, factor }] of words.entries()) {
      const cursor = this.postings.cursor(this.postings.words.find({ low, high }));
      if (cursor !== undefined) sought.push({ factor, cursor });
      if (i % SLICE_WORDS === SLICE_WORDS - 1) yield;
    }
    return sought;
  }

  /** Scores some living memories, in the order of their numbers, and tells which of the query's words each has. */
  *score(query: WeighedQuery, sequences: readonly number[]): Generator<void, WordHit[]> {
    const judged = this.#living(sequences).map((memory) => new Judged(memory, this.memories));
    const norms = new Norms(query.meanLength);
    for (const [i, { low, high, factor, seen }] of query.words.entries()) {
      const cursor = this.postings.cursor(this.postings.words.find({ low, high }));
      if (cursor !== undefined) for (const each of judged) each.take(cursor, { factor, seen, norms });
      if (i % QUERY_WORDS === QUERY_WORDS - 1) yield;
    }
    return judged.map(({ sequence, score, words }) => ({ sequence, score, words }));
  }

  #living(sequences: readonly number[]): number[] {
    const found = sequences.map((sequence) => this.memories.find(sequence));
    const living = found.filter((memory) => memory >= 0 && this.memories.lives(memory));
    return [...new Set(living)].sort((a, b) => a - b);
  }

  /** Counts the living memories that have a word. */
  *#holding(word: number): Generator<void, number> {
    if (this.memories.gone === 0) return this.postings.count(word);
    const cursor = this.postings.cursor(word);
    if (cursor === undefined) return 0;
    let holding = 0;
    let read = 0;
    do {
      for (let i = cursor.at; i < cursor.end; i++) {
        if (this.memories.lives(memoryOf(cursor.page[i] as number))) holding++;
      }
      read += cursor.end - cursor.at;
      if (read < SLICE_POSTINGS) continue;
      read = 0;
      yield;
    } while (cursor.advance());
    return holding;
  }
}

/**
 * Number of times that a word counts in the best score that a memory could have. An identifier that no memory
 * has takes nothing away: its words count already.
 */
function timesInIdeal({ times, inIdentifiers }: Count, holding: number): number {
  return holding > 0 ? times + inIdentifiers : times;
}

/** A memory whose score is computed word by word. */
class Judged {
  score = 0;
  readonly words: string[] = [];
  readonly sequence: number;
  readonly #length: number;

  constructor(
    private readonly memory: number,
    memories: Memories,
  ) {
    this.sequence = memories.sequenceOf(memory);
    this.#length = memories.lengthOf(memory);
  }

  take(cursor: Cursor, { factor, seen, norms }: { factor: number; seen: string; norms: Norms }): void {
    const posting = seek(cursor, this.memory);
    if (posting < 0) return;
    const weight = WEIGHTS[weightPlaceOf(posting)] as number;
    this.score += gainOf(factor, weight, norms.of(this.#length));
    this.words.push(seen);
  }
}
