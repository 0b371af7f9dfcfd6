import { type Embedder, SERVICE } from "../src/memory/ports/embedder.js";
import type { Paraphrase } from "./paraphrase-set.js";

/** Result of a test that pairs questions with answers. */
export interface Apart {
  /** Number of questions whose answer scores above all others. */
  readonly right: number;
  readonly questions: number;
  /** Mean cosines of the questions with their answers, and with all others. */
  readonly own: number;
  readonly other: number;
  /** Distance of the two means in standard deviations, because models spread their cosines differently. */
  readonly separation: number;
}

/** Share of right answers that a guessing model reaches for at most one set of sentences in twenty. */
const RIGHT_MIN = 0.75;

export async function tellApart(embedder: Embedder, paraphrases: readonly Paraphrase[]): Promise<Apart> {
  const queries: Float32Array[] = [];
  const passages: Float32Array[] = [];
  for (const { query, passage } of paraphrases) {
    queries.push((await embedder.embed({ text: query, field: "query", owner: SERVICE })).vectors);
    passages.push((await embedder.embed({ text: passage, field: "text", owner: SERVICE })).vectors);
  }
  const scores = queries.map((query) => passages.map((passage) => dot(query, passage)));
  const own = scores.map((row, i) => row[i] as number);
  const others = scores.map((row, i) => row.filter((_, j) => j !== i));
  const right = own.filter((score, i) => score > Math.max(...(others[i] as number[]))).length;
  const [a, b] = [spread(own), spread(others.flat())];
  const deviation = Math.sqrt((a.variance + b.variance) / 2);
  const separation = deviation > 0 ? (a.mean - b.mean) / deviation : 0;
  return { right, questions: paraphrases.length, own: a.mean, other: b.mean, separation };
}

export function isToldApart({ right, questions }: Apart): boolean {
  return right >= RIGHT_MIN * questions;
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
}

function spread(values: readonly number[]): { mean: number; variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return { mean, variance };
}
