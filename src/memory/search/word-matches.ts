import { shareOf, type WeighedQuery, type WordHit, type WordsFound } from "../ports/index.js";
import type { MeanCosine } from "./mean-cosine.js";

/** Judgement of one memory by the words of a query. */
export interface Judged {
  /** Share of the query's words that the memory has, 0 to 1. */
  readonly share: number;
  /** Words of the query that the memory has, as the query has them, in lower case. */
  readonly matched: readonly string[];
}

/** Judgement of a memory that has none of the words. */
export const NO_WORDS: Judged = { share: 0, matched: [] };

/** Finds of the words of a query in a namespace, with all that is needed to weigh them. */
export class WordMatches {
  constructor(
    private readonly score: (query: WeighedQuery, sequences: readonly number[]) => Promise<WordHit[]>,
    private readonly found: WordsFound,
    private readonly mean: MeanCosine,
  ) {}

  /** Log numbers of the memories whose words fit best, best first. */
  get matches(): number[] {
    return this.found.matches.map(({ sequence }) => sequence);
  }

  /** Judges memories by the words that were found, whatever is stored meanwhile. */
  async judge(sequences: readonly number[]): Promise<Map<number, Judged>> {
    const { query } = this.found;
    const hits = await this.score(query, sequences);
    return new Map(
      hits.map((hit) => [hit.sequence, { share: shareOf(hit, query), matched: hit.words }] as const),
    );
  }

  /** Returns the mean cosine of a query to the namespace's memories. */
  meanCosine(vectors: readonly Float32Array[]): number {
    return this.mean.of(vectors);
  }
}
