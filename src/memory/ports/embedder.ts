/** The port to the model that turns text into vectors. */
export interface Embedder {
  readonly model: ModelIdentity;
  /**
   * Embeds one text: into one vector, or into one for each window if the text is longer than the model reads
   * well at once.
   *
   * @throws MemoryError `unavailable` if too much waits already, the text cannot be read before its deadline
   * (MODEL_BUSY) or the model cannot be reached; `resource_exhausted` (ABANDONED_WORK) while the owner has
   * abandoned too many calls.
   */
  embed(input: EmbedInput): Promise<Embedding>;
  /**
   * Returns which share of a text's letters and emoji is in scripts that the model hardly knows, from 0 to 1. It
   * may find any two such texts alike.
   */
  unreadShare(text: string): number;
}

/** Owner of the service's own work; no account has this id. */
export const SERVICE = "";

export interface EmbedInput {
  readonly text: string;
  /** The caller's account, or `SERVICE`: owners take turns at the model. */
  readonly owner: string;
  /**
   * Time when the answer becomes useless, in milliseconds of the process's monotonic clock; absent for work
   * that may take any time.
   */
  readonly deadlineMs?: number | undefined;
  /** The request's field that holds the text, for errors. Queries precede texts in the queue. */
  readonly field: "text" | "query";
  readonly signal?: AbortSignal;
  /** Called with the thread that takes the text, or a part of it. */
  readonly onBegin?: (thread: EmbeddingThread) => void;
}

/** The main thread, or one of its own for the model. */
export type EmbeddingThread = "main" | "worker";

/**
 * Maximum numbers of vectors of a text and of a query; an embedder joins neighbouring windows of longer ones.
 */
export const TEXT_WINDOWS_MAX = 1024;
export const QUERY_WINDOWS_MAX = 64;

export interface Embedding {
  /**
   * At most `TEXT_WINDOWS_MAX` or `QUERY_WINDOWS_MAX` vectors, end to end, normalised, each `dimensions`
   * long; and at most 4 MiB, because databases hold no larger memories.
   */
  readonly vectors: Float32Array;
  /**
   * The part of the text that each vector stands for, in order; absent if one vector stands for all of it.
   */
  readonly windows?: readonly Window[];
  /** Tokens of the whole text, special tokens not counted. */
  readonly tokens: number;
}

/** A part of a text, counted in code points: neither in bytes nor in UTF-16 units. */
export interface Window {
  readonly start: number;
  /** End offset (exclusive), in Unicode code points. */
  readonly end: number;
}

/** Prefix of the id of a model that a server has, to which texts are sent; its name there follows. */
export const REMOTE_PREFIX = "openai:";

export function isRemote(model: string): boolean {
  return model.startsWith(REMOTE_PREFIX);
}

/** Identity of a model. Vectors may be compared only if all of it is equal. */
export interface ModelIdentity {
  readonly id: string;
  /** SHA-256 over the model's files, in hex; of a remote model `unknown`. */
  readonly revision: string;
  readonly dtype: string;
  readonly dimensions: number;
  /** Pooling of the tokens' outputs into a vector; absent for their mean. */
  readonly pooling?: string;
  /** Prefix of every stored text; absent if there is none. The prefix of queries may change freely. */
  readonly passagePrefix?: string;
}

/** Description of a model, by which callers judge what it finds. */
export interface ModelDescription {
  readonly id: string;
  /** The languages that it reads, as BCP 47 tags; `mul` stands for many. Empty if they are unknown. */
  readonly languages: readonly string[];
  /** Score above which a match is strong; absent where nobody has measured it. */
  readonly strongScore?: number;
}
