/** The port to the model that turns text into vectors. */
export interface Embedder {
  readonly model: ModelIdentity;
  /**
   * The vector of one text.
   *
   * @throws MemoryError `invalid_argument` naming `field` when the text is longer than the model
   * reads at once, `unavailable` when too much waits already or the model is away.
   */
  embed(input: EmbedInput): Promise<Embedding>;
}

export interface EmbedInput {
  readonly text: string;
  /** The request's field that holds the text, for errors. Queries go before texts in the queue. */
  readonly field: "text" | "query";
  readonly signal?: AbortSignal;
}

export interface Embedding {
  /** Normalised, `dimensions` long. */
  readonly vector: Float32Array;
  /** Tokens of the whole text, special tokens not counted. */
  readonly tokens: number;
}

/** What makes vectors comparable: two texts may only be compared when all of this is the same. */
export interface ModelIdentity {
  readonly id: string;
  /** SHA-256 over the model's files, in hex. */
  readonly revision: string;
  readonly dtype: string;
  readonly dimensions: number;
}
