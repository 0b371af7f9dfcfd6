import {
  type Embedding,
  type EmbedInput,
  QUERY_WINDOWS_MAX,
  TEXT_WINDOWS_MAX,
} from "../../memory/ports/embedder.js";
import { costOf } from "../encode/cost.js";
import type { Encoded } from "../encode/encoder.js";
import { scaled } from "../encode/pooling.js";
import { inCodePoints, type Part } from "../encode/windows.js";

/** Maximum total length of a text's vectors, which take 4 MiB then: databases and batches hold no larger memories. */
const NUMBERS_MAX = 1024 * 1024;

/** A part of a text with its vector. */
export interface EmbeddedWindow extends Part {
  readonly vector: Float32Array;
}

/** A chunk for a worker: a whole text, or one window of a long one. */
export interface Chunk extends Part {
  readonly task: Task;
  readonly text: string;
  readonly cost: number;
  /** Number of times that it was given to a worker. */
  attempts: number;
  vector?: Float32Array;
}

/** The state of one text in the model: its unread chunks and the results of the others. */
export class Task {
  /** Its result, which the caller waits for. */
  readonly embedding: Promise<Embedding>;
  readonly arrivedMs = performance.now();
  /** Time that workers have used for it. */
  usedMs = 0;
  /** Estimated cost of the unread chunks. */
  cost: number;
  /** True once its promise is settled. */
  isOver = false;
  #tokens = 0;
  readonly #whole: Chunk;
  /** The whole text, or the windows that are read in its place, in order. */
  readonly #chunks: Chunk[];
  /** Unread chunks that no worker has, the next one last. */
  readonly #ready: Chunk[];
  #resolve!: (embedding: Embedding) => void;
  #reject!: (error: unknown) => void;

  constructor(readonly input: EmbedInput) {
    this.embedding = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#whole = this.#chunk({ start: 0, end: input.text.length });
    this.#chunks = [this.#whole];
    this.#ready = [this.#whole];
    this.cost = this.#whole.cost;
  }

  /** Next chunk in the order of the text; undefined when workers have all that is left. */
  get next(): Chunk | undefined {
    return this.#ready.at(-1);
  }

  /** Takes the next chunk. */
  take(): void {
    this.#ready.pop();
  }

  /** Puts a chunk back, to be read again before all others. */
  putBack(chunk: Chunk): void {
    this.#ready.push(chunk);
  }

  /** Takes in the result of a chunk; the last one ends the task. */
  accept(chunk: Chunk, encoded: Encoded): void {
    this.cost -= chunk.cost;
    if (chunk === this.#whole) this.#tokens = encoded.tokens;
    if ("vector" in encoded) chunk.vector = encoded.vector;
    else this.#divide(chunk, encoded.parts);
    if (this.#chunks.some(({ vector }) => vector === undefined)) return;
    this.isOver = true;
    this.#resolve(this.#joinedEmbedding());
  }

  reject(error: unknown): void {
    this.isOver = true;
    this.#reject(error);
  }

  #divide(chunk: Chunk, parts: readonly Part[]): void {
    const { text, start } = chunk;
    const inner = withoutRepeats(text, parts).map((part) =>
      this.#chunk({ start: start + part.start, end: start + part.end }),
    );
    this.#chunks.splice(this.#chunks.indexOf(chunk), 1, ...inner);
    this.#ready.push(...inner.toReversed());
    for (const { cost } of inner) this.cost += cost;
  }

  #chunk({ start, end }: Part): Chunk {
    const text = this.input.text.slice(start, end);
    return { task: this, start, end, text, cost: costOf(text), attempts: 0 };
  }

  #joinedEmbedding(): Embedding {
    const tokens = this.#tokens;
    if (this.#whole.vector !== undefined) return { vectors: this.#whole.vector, tokens };
    const embedded = this.#chunks as (Chunk & EmbeddedWindow)[];
    const windowsMax = this.input.field === "query" ? QUERY_WINDOWS_MAX : TEXT_WINDOWS_MAX;
    const chunks = joinedToAtMost(
      embedded,
      Math.min(windowsMax, Math.floor(NUMBERS_MAX / (embedded[0]?.vector.length ?? 1))),
    );
    const positions = chunks.flatMap(({ start, end }) => [start, end]);
    const counts = inCodePoints(this.input.text, positions);
    const at = (position: number) => counts.get(position) as number;
    const windows = chunks.map(({ start, end }) => ({ start: at(start), end: at(end) }));
    return { vectors: endToEnd(chunks.map(({ vector }) => vector)), windows, tokens };
  }
}

/** Leaves out parts that repeat an earlier one: hundreds of equal vectors would be an island in a graph. */
function withoutRepeats(text: string, parts: readonly Part[]): Part[] {
  const firsts = new Map<string, Part>();
  for (const part of parts) {
    const words = text.slice(part.start, part.end).trim();
    if (!firsts.has(words)) firsts.set(words, part);
  }
  return [...firsts.values()];
}

function endToEnd(vectors: readonly Float32Array[]): Float32Array {
  const dimensions = vectors[0]?.length ?? 0;
  const all = new Float32Array(vectors.length * dimensions);
  for (const [i, vector] of vectors.entries()) all.set(vector, i * dimensions);
  return all;
}

/**
 * Reduces a text's windows to at most `max`. If there are more, neighbours are joined into one with the
 * mean of their vectors: each part of the text still counts, in groups of about equal size.
 */
export function joinedToAtMost(windows: readonly EmbeddedWindow[], max: number): readonly EmbeddedWindow[] {
  if (windows.length <= max) return windows;
  const from = (group: number) => Math.floor((group * windows.length) / max);
  return Array.from({ length: max }, (_, group) => join(windows.slice(from(group), from(group + 1))));
}

function join(windows: readonly EmbeddedWindow[]): EmbeddedWindow {
  const [first] = windows as [EmbeddedWindow];
  if (windows.length === 1) return first;
  const start = Math.min(...windows.map((window) => window.start));
  const end = Math.max(...windows.map((window) => window.end));
  return { start, end, vector: meanOf(windows.map(({ vector }) => vector)) };
}

/** Returns the normalised mean, or the first vector if they cancel each other out. */
function meanOf(vectors: readonly Float32Array[]): Float32Array {
  const [first] = vectors as [Float32Array];
  const sum = new Float64Array(first.length);
  for (const vector of vectors)
    for (const [i, value] of vector.entries()) sum[i] = (sum[i] as number) + value;
  const { unit, length } = scaled(sum);
  return length > 0 ? unit : first;
}
