import { AutoModel, AutoTokenizer, env, LogLevel } from "@xenova/transformers";

env.allowRemoteModels = false;
env.useFSCache = false;
// On a failing run the library logs its inputs, and a text's tokens are as private as the text.
env.logLevel = LogLevel.NONE;

/** What a model made of one text. */
export interface Reading {
  /** Tokens of the whole text, special tokens not counted. */
  readonly tokens: number;
  /** Mean over the tokens, normalised; absent when the text is longer than `tokensMax`. */
  readonly vector?: Float32Array<ArrayBuffer>;
}

type Tokenizer = Awaited<ReturnType<typeof AutoTokenizer.from_pretrained>>;
type Model = Awaited<ReturnType<typeof AutoModel.from_pretrained>>;

/** One model in one single-threaded session. Reading holds the thread: it belongs into a worker. */
export class Encoder {
  /** The longest text it reads, in tokens, special tokens not counted. */
  readonly tokensMax: number;
  readonly #specialTokens: number;

  constructor(
    private readonly tokenizer: Tokenizer,
    private readonly model: Model,
  ) {
    this.#specialTokens = this.#tokenize("").length;
    this.tokensMax = windowOf(tokenizer, model) - this.#specialTokens;
  }

  /** One text a run: in int8 a text's neighbours in a batch, and padding, change its vector. */
  async encode(text: string): Promise<Reading> {
    const { inputs, length } = this.#tokenize(text);
    const tokens = length - this.#specialTokens;
    if (tokens > this.tokensMax) return { tokens };
    const output = await this.model(inputs);
    const states = output.last_hidden_state ?? output.token_embeddings;
    if (states?.dims.length !== 3) throw new Error("the model gives no state per token to take the mean of");
    return { tokens, vector: normalise(mean(states.data, states.dims[2])) };
  }

  #tokenize(text: string) {
    const inputs = this.tokenizer(text, { truncation: false, padding: false });
    return { inputs, length: inputs.input_ids.dims[1] as number };
  }
}

/** Loads the model in a folder of Transformers.js's layout; never asks the network. */
export async function openEncoder(folder: string): Promise<Encoder> {
  const local = { local_files_only: true };
  const tokenizer = await AutoTokenizer.from_pretrained(folder, local);
  const model = await AutoModel.from_pretrained(folder, {
    ...local,
    dtype: "q8",
    device: "cpu",
    session_options: { intraOpNumThreads: 1, interOpNumThreads: 1 },
  });
  return new Encoder(tokenizer, model);
}

function windowOf(tokenizer: Tokenizer, model: Model): number {
  const window = Math.min(
    tokenizer.model_max_length,
    model.config.max_position_embeddings ?? Number.POSITIVE_INFINITY,
  );
  // Tokenizers without a limit of their own say 1e30.
  if (window < 1e9) return window;
  throw new Error("neither tokenizer_config.json nor config.json says how many tokens the model reads");
}

/** The mean of the rows. Every token counts: there is one text, so nothing is padded. */
function mean(rows: Float32Array, dimensions: number): Float64Array {
  const sum = new Float64Array(dimensions);
  for (let from = 0; from < rows.length; from += dimensions) {
    for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] as number) + (rows[from + i] as number);
  }
  return sum.map((value) => value / (rows.length / dimensions));
}

function normalise(vector: Float64Array): Float32Array<ArrayBuffer> {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  // NaN and infinity anywhere in the vector come out in its length.
  if (!(length > 0 && length < Number.POSITIVE_INFINITY)) {
    throw new Error("the model gave a vector that cannot be normalised");
  }
  return Float32Array.from(vector, (value) => value / length);
}
