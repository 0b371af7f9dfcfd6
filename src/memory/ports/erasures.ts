import type { Scope } from "./names.js";

/** Record of an erasure. It is kept until the erasure is done, so that a crash cannot hide it. */
export interface Erasure {
  readonly id: string;
  readonly scope: Scope;
  /** Log that is erased; absent if only the records of calls are, a second time, after a drop. */
  readonly logId?: string;
  /** The number of one memory; undefined means the whole log. */
  readonly sequence?: number;
  /** Time when it began, by the wall clock. */
  readonly begunAtMs: number;
}

export type LogErasure = Erasure & { readonly logId: string };

/** A record of an erasure that is damaged: nobody knows what it was to erase. */
export interface LostErasure {
  readonly id: string;
  readonly lost: true;
}

/** The port to the running erasures. Every adapter passes `test/contract/erasures.ts`. */
export interface Erasures {
  /** Records an erasure, unless its id is known; it survives a crash once this resolves. */
  begin(erasure: Erasure): Promise<void>;
  end(id: string): Promise<void>;
  /** Lists erasures that have not ended, at most `limit`, by id, from behind the given one on. */
  pending(limit: number, after?: string): Promise<(Erasure | LostErasure)[]>;
}
