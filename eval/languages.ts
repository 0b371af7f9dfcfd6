import { readFileSync } from "node:fs";
import { mean } from "./bootstrap.js";
import { type Metrics, metricsOf } from "./metrics.js";
import type { Placed, Searcher } from "./searcher.js";

/** Our own sentences: for each language the same facts, each with a question that it answers. */
type Sentences = Readonly<Record<string, readonly (readonly [fact: string, question: string])[]>>;

const SENTENCES = JSON.parse(readFileSync(new URL("languages.json", import.meta.url), "utf8")) as Sentences;

/** Figures of one system in one language. */
export interface LanguageFigures {
  /** Share of the questions whose fact comes first. */
  readonly hit1: number;
  readonly ndcg10: number;
}

export type Languages = Readonly<Record<string, LanguageFigures>>;

/**
 * Stores each language's facts in a namespace of its own, and asks all its questions there, one language after
 * the other: BM25 keeps what was stored last.
 */
export async function measureLanguages(searcher: Searcher): Promise<Languages> {
  const figures: Record<string, LanguageFigures> = {};
  for (const [language, pairs] of Object.entries(SENTENCES)) {
    const namespace = `languages ${language}`;
    const rows = pairs.map(([text], i): Placed => ({ namespace, row: { id: String(i), text } }));
    await searcher.store(rows, () => {});
    const outcomes: Metrics[] = [];
    for (const [i, [, question]] of pairs.entries()) {
      const hits = await searcher.search([namespace], question);
      outcomes.push(
        metricsOf(
          queryFor(String(i), question),
          hits.map(({ row }) => row),
        ),
      );
    }
    figures[language] = {
      hit1: mean(outcomes.map(({ hit1 }) => hit1)),
      ndcg10: mean(outcomes.map(({ ndcg10 }) => ndcg10)),
    };
  }
  return figures;
}

function queryFor(id: string, text: string) {
  return {
    id,
    text,
    scopes: [],
    answerable: true,
    relevant: new Set([id]),
    gains: new Map([[id, 1]]),
    sessions: [],
  };
}
