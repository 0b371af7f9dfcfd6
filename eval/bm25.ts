import { stemmer } from "stemmer";

const K1 = 1.2;
const B = 0.75;

/** English function words. Without them, a question consists of its nouns and verbs. */
const STOP_WORDS = new Set(
  [
    "a an the this that these those some any each such other another same own only both more most much many",
    "i me my you your he him his himself she her we our us they them their it its who whom",
    "what which where when why how",
    "am is are was were be been being have has had having do does did doing can could will would shall should may might must",
    "and or but if because as than while so not no nor",
    "of at by for with about against between into through during before after above below to from up down in out on off over under",
    "here there now then also just very too",
  ].flatMap((words) => words.split(" ")),
);

interface Posting {
  readonly text: number;
  readonly count: number;
}

/**
 * Plain Okapi BM25 in Lucene's form: idf = ln(1 + (N - n + 0.5) / (n + 0.5)). Texts are in lower case,
 * without stop words, and stemmed by Porter's rules.
 */
export class Bm25Index {
  readonly #postings = new Map<string, Posting[]>();
  readonly #lengths: readonly number[];
  readonly #meanLength: number;

  constructor(texts: readonly string[]) {
    this.#lengths = texts.map((text, number) => {
      const words = wordsOf(text);
      for (const [word, count] of counted(words)) this.#add(word, { text: number, count });
      return words.length;
    });
    this.#meanLength = this.#lengths.reduce((sum, length) => sum + length, 0) / texts.length;
  }

  /** Scores each text; 0 if it shares no word with the query. */
  scores(query: string): Float64Array {
    const scores = new Float64Array(this.#lengths.length);
    for (const [word, times] of counted(wordsOf(query))) {
      const postings = this.#postings.get(word) ?? [];
      const idf = Math.log(1 + (scores.length - postings.length + 0.5) / (postings.length + 0.5));
      for (const { text, count } of postings) {
        const norm = 1 - B + (B * (this.#lengths[text] as number)) / this.#meanLength;
        scores[text] = (scores[text] as number) + (times * idf * count * (K1 + 1)) / (count + K1 * norm);
      }
    }
    return scores;
  }

  #add(word: string, posting: Posting): void {
    const postings = this.#postings.get(word);
    if (postings === undefined) this.#postings.set(word, [posting]);
    else postings.push(posting);
  }
}

function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => !STOP_WORDS.has(word)).map(stemmer);
}

function counted(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
