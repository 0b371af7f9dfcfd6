import { AutoModel, AutoTokenizer, env, LogLevel } from "@xenova/transformers";
import type { EmbedInput } from "../../memory/ports/embedder.js";
import type { Convention } from "./convention.js";
import { settlePooling, vectorOf } from "./pooling.js";
import { readLongWords, scriptsIn } from "./vocabulary.js";
import { type Part, WHOLE_TOKENS, WHOLE_UNITS, windowsOf } from "./windows.js";

env.allowRemoteModels = false;
env.useFSCache = false;
// When a run fails the library logs its inputs, and a text's tokens are as private as the text.
env.logLevel = LogLevel.NONE;

export type Question = Pick<EmbedInput, "text" | "field">;

/**
 * Result of reading one text: a normalised vector, or the windows to read in its place if it is too
 * long. `tokens` counts those of the whole text, without prefix and special tokens.
 */
export type Encoded = {
  readonly tokens: number;
  /** Time in the thread, in milliseconds, if measured. */
  readonly ms?: number;
} & ({ readonly vector: Float32Array } | { readonly parts: readonly Part[] });

export interface Prepared {
  /** Number of tokens, with those of the prefix and special ones. */
  readonly length: number;
  /** Reads the text, or cuts it. The model begins in a later iteration of the event loop. */
  run(): Promise<Encoded>;
}

/**
 * Window size in tokens, for texts of more than `WHOLE_TOKENS`: in larger windows a single fact drowns,
 * see docs/decisions/0017-long-texts-are-read-in-windows-of-64-tokens.md.
 */
const WINDOW_TOKENS = 64;
/** The same limit in UTF-16 units: `match` must not point at a whole book. */
const WINDOW_UNITS = 512;

type Tokenizer = Awaited<ReturnType<typeof AutoTokenizer.from_pretrained>>;
type Model = Awaited<ReturnType<typeof AutoModel.from_pretrained>>;

/** Runs one model in one single-threaded session. Reading blocks the thread, so use it in a worker. */
export class Encoder {
  /** Maximum number of tokens that it reads at once, without special tokens. */
  readonly #tokensMax: number;
  readonly #prefixes: Record<Question["field"], string>;
  readonly #specialTokens: number;

  constructor(
    private readonly tokenizer: Tokenizer,
    private readonly model: Model,
    readonly convention: Convention,
  ) {
    this.#prefixes = { query: convention.queryPrefix, text: convention.passagePrefix };
    this.#specialTokens = this.#tokenize("").length;
    const prefixed = Object.values(this.#prefixes).map((prefix) => this.#tokenize(prefix).length);
    this.#tokensMax = (convention.windowTokens ?? WHOLE_TOKENS) - Math.max(...prefixed);
  }

  /** Reads a text, one in each run: with int8, padding and other texts in a batch change its vector. */
  encode(question: Question): Promise<Encoded> {
    return this.prepare(question).run();
  }

  prepare({ text, field }: Question): Prepared {
    const prefix = this.#prefixes[field];
    const alone = this.#tokenize(text);
    const tokens = alone.length - this.#specialTokens;
    if (tokens > this.#tokensMax || text.length > WHOLE_UNITS) {
      const cut = async () => ({ tokens, parts: this.#partsOf({ text, field }) });
      return { length: alone.length, run: cut };
    }
    // Prefix and text are tokenized together, because a space belongs to the token after it.
    const { inputs, length } = prefix === "" ? alone : this.#tokenize(prefix + text);
    const embed = async () => ({
      tokens,
      vector: vectorOf(await this.model(inputs), this.convention.pooling),
    });
    return { length, run: embed };
  }

  /** Lists the scripts that it can read; undefined if its files cannot tell. It looks at the whole vocabulary. */
  get scripts(): readonly string[] | undefined {
    return scriptsIn([...this.tokenizer.get_vocab().keys()]);
  }

  async close(): Promise<void> {
    await this.model.dispose();
  }

  /** Cuts a text into windows. A part that is still too long is cut again when it is read. */
  #partsOf({ text, field }: Question): Part[] {
    return windowsOf(text, {
      tokensMax: Math.min(this.#tokensMax, WINDOW_TOKENS),
      unitsMax: WINDOW_UNITS,
      overlap: field === "text",
      countTokens: (part) => this.#tokenize(part).length - this.#specialTokens,
    });
  }

  #tokenize(text: string) {
    const inputs = this.tokenizer(text, { truncation: false, padding: false });
    return { inputs, length: inputs.input_ids.dims[1] as number };
  }
}

export interface ModelOnDisk {
  readonly folder: string;
  readonly convention: Convention;
}

/** Loads the model in a folder of Transformers.js's layout. It never uses the network. */
export async function openEncoder({ folder, convention }: ModelOnDisk): Promise<Encoder> {
  const local = { local_files_only: true };
  const tokenizer = await AutoTokenizer.from_pretrained(folder, local);
  readLongWords(tokenizer);
  const model = await AutoModel.from_pretrained(folder, {
    ...local,
    dtype: "q8",
    device: "cpu",
    session_options: { intraOpNumThreads: 1, interOpNumThreads: 1 },
  });
  const pooling = settlePooling(convention.pooling, model.sessions.model.outputNames);
  return new Encoder(tokenizer, model, { ...convention, pooling });
}
