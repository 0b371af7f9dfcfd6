import { mapConcurrently } from "../concurrency/map-concurrently.js";
import { failedPrecondition } from "../errors.js";
import { type Embedder, type EmbedInput, SERVICE } from "../memory/ports/embedder.js";
import { vectorsOf } from "../memory/ports/windows.js";

/** Most memories and questions that are measured; of more, some that are spread evenly. */
export const MEMORIES_MAX = 5_000;
export const QUESTIONS_MAX = 300;
/** Results in which a question's memory counts as found. */
const TOP = 5;
/** Texts that are read at once, as callers would have them stored. */
const PARALLEL = 16;
/** Words of a text below which no part of it can stand for a question, and of such a part. */
const WORDS_MIN = 8;
const PART_WORDS_MAX = 12;

export interface Question {
  readonly query: string;
  /** Positions of the memories that it should find. */
  readonly relevant: readonly number[];
}

/** Memories and questions about them. */
export interface Trial {
  readonly texts: readonly string[];
  readonly questions: readonly Question[];
  /** Whether parts of the texts stand for questions. */
  readonly isMadeUp: boolean;
}

export interface Measured {
  readonly dimensions: number;
  /** Share of the relevant memories that are among the five best, and of questions whose best result is one. */
  readonly recall: number;
  readonly first: number;
  readonly textsPerSecond: number;
  readonly queryMs: number;
}

/**
 * Reads lines of JSON: those with a `text` are memories, as an export has them; those with a `query` questions, whose
 * `relevant` lists memories by id, external id or text. Other lines are left out.
 *
 * @throws MemoryError that names the line
 */
export async function readTrial(lines: AsyncIterable<string>): Promise<Trial> {
  const texts: string[] = [];
  // Apart: the text of one memory may be another's external id.
  const positions = new Map<string, number>();
  const named = new Map<string, number>();
  const asked: { query: string; relevant: readonly string[] }[] = [];
  const add = (text: string, ...names: unknown[]) => {
    const position = positions.get(text) ?? texts.push(text) - 1;
    positions.set(text, position);
    for (const name of names) if (typeof name === "string") named.set(name, position);
  };
  const positionOf = (name: string) => named.get(name) ?? positions.get(name);
  let number = 0;
  for await (const line of lines) {
    number++;
    if (line.trim() === "") continue;
    const { id, external_id, text, query, relevant } = parsed(line, number);
    if (typeof text === "string") add(text, id, external_id);
    else if (typeof query === "string") {
      if (
        !Array.isArray(relevant) ||
        relevant.length === 0 ||
        !relevant.every((each) => typeof each === "string")
      )
        throw failedPrecondition(`line ${number}: relevant must be a list of ids or texts, one at least`);
      asked.push({ query, relevant });
    }
  }
  // After all lines, because a question may come before its memories. What names none is a memory's text.
  for (const each of asked.flatMap(({ relevant }) => relevant)) if (positionOf(each) === undefined) add(each);
  const questions = asked.map(({ query, relevant }) => ({
    query,
    relevant: relevant.map((each) => positionOf(each) as number),
  }));
  return reduced(texts, questions);
}

function parsed(line: string, number: number): Record<string, unknown> {
  try {
    return Object(JSON.parse(line));
  } catch {
    throw failedPrecondition(`line ${number} is no JSON`);
  }
}

/** Takes a bounded part of what there is: the memories that are asked for, and others beside them. */
function reduced(texts: readonly string[], all: readonly Question[]): Trial {
  const isMadeUp = all.length === 0;
  const questions = spread(isMadeUp ? partsOf(texts) : all, QUESTIONS_MAX);
  if (questions.length === 0)
    throw failedPrecondition(`the file has no question, and no memory of ${WORDS_MIN} words or more`);
  const needed = new Set(questions.flatMap(({ relevant }) => relevant));
  const others = texts.map((_, position) => position).filter((position) => !needed.has(position));
  const chosen = [...needed, ...spread(others, Math.max(0, MEMORIES_MAX - needed.size))];
  const ranks = new Map(chosen.map((position, rank) => [position, rank]));
  return {
    isMadeUp,
    texts: chosen.map((position) => texts[position] as string),
    questions: questions.map(({ query, relevant }) => ({
      query,
      relevant: relevant.map((position) => ranks.get(position) as number),
    })),
  };
}

/** Makes a question of the last words of each text, but no more than half of them. */
function partsOf(texts: readonly string[]): Question[] {
  return texts.flatMap((text, position) => {
    const words = text.split(/\s+/).filter(Boolean);
    if (words.length < WORDS_MIN) return [];
    const count = Math.min(PART_WORDS_MAX, Math.floor(words.length / 2));
    return { query: words.slice(-count).join(" "), relevant: [position] };
  });
}

function spread<T>(all: readonly T[], max: number): readonly T[] {
  if (all.length <= max) return all;
  return Array.from({ length: max }, (_, i) => all[Math.floor((i * all.length) / max)] as T);
}

/**
 * Reads the memories and the questions with a model, and compares each question with all memories.
 *
 * @param scoreOf scores two texts by their vectors
 */
export async function measureModel(
  embedder: Embedder,
  { texts, questions }: Trial,
  scoreOf: (some: Float32Array[], others: Float32Array[]) => number,
): Promise<Measured> {
  const { dimensions } = embedder.model;
  const embed = async (text: string, field: EmbedInput["field"]) =>
    vectorsOf(await embedder.embed({ text, field, owner: SERVICE }));
  const beganMs = performance.now();
  const vectors = await mapConcurrently(texts, PARALLEL, (text) => embed(text, "text"));
  const textsPerSecond = (texts.length / (performance.now() - beganMs)) * 1000;
  let [recall, first] = [0, 0];
  const tookMs: number[] = [];
  for (const { query, relevant } of questions) {
    const askedMs = performance.now();
    const asked = await embed(query, "query");
    tookMs.push(performance.now() - askedMs);
    const scores = vectors.map((windows, position) => ({ position, score: scoreOf(asked, windows) }));
    const nearest = scores.sort((a, b) => b.score - a.score).slice(0, TOP);
    const best = nearest.map(({ position }) => position);
    recall += relevant.filter((position) => best.includes(position)).length / relevant.length;
    if (relevant.includes(best[0] as number)) first++;
  }
  const { length } = questions;
  const queryMs = tookMs.sort((a, b) => a - b)[length >> 1] as number;
  return { dimensions, recall: recall / length, first: first / length, textsPerSecond, queryMs };
}

/** Formats what was measured, one column for each model. */
export function tableOf(measured: readonly (Measured & { readonly model: string })[]): string[] {
  const fixed = (digits: number) => (value: number) =>
    value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const rows: [string, ...string[]][] = [
    ["", ...measured.map(({ model }) => model)],
    ["recall@5", ...measured.map(({ recall }) => fixed(3)(recall))],
    ["found first", ...measured.map(({ first }) => fixed(3)(first))],
    ["texts a second", ...measured.map(({ textsPerSecond }) => fixed(0)(textsPerSecond))],
    ["ms for a query", ...measured.map(({ queryMs }) => fixed(1)(queryMs))],
    ["dimensions", ...measured.map(({ dimensions }) => String(dimensions))],
  ];
  const widths = measured.map((_, i) => Math.max(...rows.map((row) => (row[i + 1] as string).length)));
  return rows.map(
    ([name, ...cells]) =>
      `${name.padEnd(14)}  ${cells.map((cell, i) => cell.padStart(widths[i] as number)).join("  ")}`,
  );
}
