/** The port to the model that turns text into vectors. */
export interface Embedder {
  readonly model: ModelIdentity;
  /**
   * The vectors of one text: one, or one for each window when it is longer than the model reads well
   * at once.
   *
   * @throws MemoryError `unavailable` when too much waits already, the text cannot be read before its
   * deadline (MODEL_BUSY) or the model is away; `resource_exhausted` (ABANDONED_WORK) while the owner
   * has broken off too much.
   */
  embed(input: EmbedInput): Promise<Embedding>;
}

/** The owner of work that the service does for itself; no account has this id. */
export const SERVICE = "";

export interface EmbedInput {
  readonly text: string;
  /** The account that asks, or `SERVICE`: owners take turns at the model. */
  readonly owner: string;
  /**
   * When the answer becomes useless, in milliseconds of the process's monotonic clock; left out for
   * work that may take any time.
   */
  readonly deadlineMs?: number | undefined;
  /** The request's field that holds the text, for errors. Queries go before texts in the queue. */
  readonly field: "text" | "query";
  readonly signal?: AbortSignal;
  /** Called when a thread takes the text, or a part of it. */
  readonly onBegin?: () => void;
}

/** Vectors that a stored text may have, and a query; an embedder joins neighbouring windows of longer ones. */
export const TEXT_WINDOWS_MAX = 1024;
export const QUERY_WINDOWS_MAX = 64;

export interface Embedding {
  /** One behind the other, `TEXT_WINDOWS_MAX` or `QUERY_WINDOWS_MAX` at most, each normalised and `dimensions` long. */
  readonly vectors: Float32Array;
  /** The part of the text that each vector is of, in order; absent when the one vector is of all of it. */
  readonly windows?: readonly Window[];
  /** Tokens of the whole text, special tokens not counted. */
  readonly tokens: number;
}

/** A part of a text, counted in code points: neither in bytes nor in UTF-16 units. */
export interface Window {
  readonly start: number;
  /** Behind its last code point. */
  readonly end: number;
}

/** What makes vectors comparable: two texts may only be compared when all of this is the same. */
export interface ModelIdentity {
  readonly id: string;
  /** SHA-256 over the model's files, in hex. */
  readonly revision: string;
  readonly dtype: string;
  readonly dimensions: number;
  /** How a vector is made of what the model gives for a text's tokens; absent when it is their mean. */
  readonly pooling?: string;
  /** Put in front of every text that is stored; absent when nothing is. That of queries may change freely. */
  readonly passagePrefix?: string;
}
