import { unavailable } from "../errors.js";
import type { EmbedInput } from "../memory/embedder.js";
import type { Reading } from "./encoder.js";

/**
 * Texts that may wait, and as many queries: a rush of stores does not turn recalls away. At 2 ms
 * a text this is a second's work, the pause that callers are told.
 */
export const WAITING_MAX = 512;

export interface Job {
  readonly input: EmbedInput;
  /** How often it was begun. */
  attempts: number;
  resolve(reading: Reading): void;
  reject(error: unknown): void;
}

/** Queries go first, but behind so many of them one text: a rush of recalls does not stop all stores. */
const QUERIES_IN_A_ROW_MAX = 8;

/** The texts that wait for a reader, queries in front. */
export class Waiting {
  readonly #lanes: Record<EmbedInput["field"], Job[]> = { query: [], text: [] };
  #queriesInARow = 0;

  get byField(): Record<EmbedInput["field"], number> {
    return { query: this.#lanes.query.length, text: this.#lanes.text.length };
  }

  /** @throws MemoryError `unavailable` when too many wait already. */
  add(job: Job): void {
    const lane = this.#lanes[job.input.field];
    if (lane.length >= WAITING_MAX) {
      throw unavailable(`${WAITING_MAX} calls are waiting for the model already`);
    }
    lane.push(job);
  }

  /** For a job whose turn it was: it goes first, and there is always room for it. */
  putBack(job: Job): void {
    this.#lanes[job.input.field].unshift(job);
  }

  /** The one whose turn it is. */
  get first(): Job | undefined {
    return this.#lanes[this.#turn()][0];
  }

  take(): Job | undefined {
    const turn = this.#turn();
    this.#queriesInARow = turn === "query" ? this.#queriesInARow + 1 : 0;
    return this.#lanes[turn].shift();
  }

  remove(job: Job): void {
    const lane = this.#lanes[job.input.field];
    const at = lane.indexOf(job);
    if (at >= 0) lane.splice(at, 1);
  }

  #turn(): EmbedInput["field"] {
    const { query, text } = this.#lanes;
    const isTextsTurn = this.#queriesInARow >= QUERIES_IN_A_ROW_MAX && text.length > 0;
    return query.length > 0 && !isTextsTurn ? "query" : "text";
  }

  rejectAll(error: unknown): void {
    for (let job = this.take(); job !== undefined; job = this.take()) job.reject(error);
  }
}
