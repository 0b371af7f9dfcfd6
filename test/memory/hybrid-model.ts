import { shareOf } from "../../src/memory/ports/index.js";
import { vectorsOf } from "../../src/memory/ports/windows.js";
import { Model } from "../index/words/model.js";
import { toyEmbedding } from "./toy-embedder.js";

/** Candidates by each way of finding. */
const CANDIDATES = 50;

/** A memory as a recall by meaning and words must return it. */
export interface Expected {
  readonly text: string;
  readonly score: number;
  readonly words: number;
  readonly rank: number;
}

/** Computes what a recall by meaning and words must answer, in the plainest way. */
export class HybridModel {
  /** Texts that live, in the order of the log. */
  texts: string[] = [];

  recall(query: string, topK: number, minScore = 0): Expected[] {
    const [asked] = vectorsOf(toyEmbedding(query)) as [Float32Array];
    const cosines = this.texts.map((text) => vectorsOf(toyEmbedding(text)).map((each) => dot(asked, each)));
    const scores = cosines.map((each) => clamp(Math.max(...each)));
    const shares = this.#shares(query);
    const all = this.texts.map((text, i) => ({ text, i, cosine: Math.max(...(cosines[i] as number[])) }));
    const near = all.toSorted((a, b) => b.cosine - a.cosine).slice(0, CANDIDATES);
    const matches = [...shares.keys()].slice(0, CANDIDATES);
    const mean = sum(cosines.map((each) => Math.max(...each))) / Math.max(1, cosines.length);
    const weight = clamp(1 - (Math.max(0, ...near.map(({ i }) => scores[i] as number)) - mean));
    const candidates = [...new Set([...near.map(({ i }) => i), ...matches])].map((i) => {
      const [score, words] = [scores[i] as number, shares.get(i) ?? 0];
      return { i, text: this.texts[i] as string, score, words, rank: score + weight * words };
    });
    candidates.sort((a, b) => b.rank - a.rank || a.i - b.i);
    const high = candidates.filter(({ score }) => score >= minScore);
    return high.slice(0, topK).map(({ i: _, ...expected }) => expected);
  }

  /** Computes each text's share of a query's words, the highest first. */
  #shares(query: string): Map<number, number> {
    const model = new Model();
    model.add(this.texts.map((text, i) => ({ sequence: i, text })));
    const { ideal, matches } = model.search({ text: query, limit: this.texts.length });
    const weighed = { words: [], ideal, meanLength: 0, leftOut: 0 };
    return new Map(matches.map((each) => [each.sequence, shareOf(each, weighed)] as const));
  }
}

function dot(a: Float32Array, b: Float32Array): number {
  return sum([...a].map((value, i) => value * (b[i] as number)));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}
