import type { Scope } from "./log.js";

/** Something that is being erased: kept until it is done, so that a crash in between leaves a trace. */
export interface Erasure {
  readonly id: string;
  readonly scope: Scope;
  readonly logId: string;
  /** The number of one memory; undefined is the whole log. */
  readonly sequence?: number;
  /** When it was begun, by the wall clock. */
  readonly begunAtMs: number;
}

/** The port to the erasures that are under way. Every adapter passes `test/contract/erasures.ts`. */
export interface Erasures {
  /** Keeps an erasure, unless one with its id is there; it survives a crash once this is answered. */
  begin(erasure: Erasure): Promise<void>;
  end(id: string): Promise<void>;
  /** Those begun and not ended, at most `limit`, by id. */
  pending(limit: number): Promise<Erasure[]>;
}
