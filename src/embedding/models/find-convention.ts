import { join } from "node:path";
import { failedPrecondition } from "../../errors.js";
import { type Convention, PLAIN, type Pooling } from "../encode/convention.js";
import { WHOLE_TOKENS } from "../encode/windows.js";
import { familyOf } from "./families.js";
import { asObject, MODULES_FILE, POOLING_FILE, PROMPTS_FILE, readJson, WINDOW_FILE } from "./model-files.js";

/** Models whose positions are counted from the number after the padding token's. */
const SHIFTED = /roberta|camembert|mpnet/;
const SHIFT = 2;

/**
 * Names of the supported poolings in the files of sentence-transformers. A mean divided by another number has the same
 * direction.
 */
const POOLINGS: Readonly<Record<string, Pooling>> = {
  mean_tokens: "mean",
  mean_sqrt_len_tokens: "mean",
  cls_token: "cls",
  lasttoken: "last",
};

/**
 * Names under which sentence-transformers keeps the prompt of a query and of a document;
 * https://sbert.net (encode_document).
 */
const QUERY_NAMES = ["query"];
const PASSAGE_NAMES = ["document", "passage", "corpus"];

/** The operator's settings; missing parts are looked up. An empty prefix means none. */
export interface ConventionSettings {
  readonly pooling?: Pooling | undefined;
  readonly queryPrefix?: string | undefined;
  readonly passagePrefix?: string | undefined;
}

export interface FoundConvention {
  readonly convention: Convention;
  /** True if neither a setting nor a file nor the model's family says how to pool. */
  readonly assumed: boolean;
}

/**
 * Finds the convention of the model in a folder: from the settings, else its own files, else its known
 * family, else the default.
 *
 * @throws MemoryError when a file of the model cannot be read, or asks for something unsupported.
 */
export async function findConvention({
  model,
  folder,
  settings = {},
}: {
  model: string;
  folder: string;
  settings?: ConventionSettings | undefined;
}): Promise<FoundConvention> {
  const family = familyOf(model);
  const pooling = settings.pooling ?? (await poolingIn(folder)) ?? family?.pooling;
  const prefixes = (await prefixesIn(folder)) ?? family;
  return {
    convention: {
      pooling: pooling ?? PLAIN.pooling,
      queryPrefix: settings.queryPrefix ?? prefixes?.queryPrefix ?? "",
      passagePrefix: settings.passagePrefix ?? prefixes?.passagePrefix ?? "",
      windowTokens: await windowIn(folder),
    },
    assumed: pooling === undefined,
  };
}

/**
 * Corrects the pooling after the model is loaded, when its outputs are known.
 *
 * @throws Error when the operator asked for another pooling.
 */
export function settled(
  { convention, assumed }: FoundConvention,
  pooling: Pooling,
  { pooling: asked = pooling }: ConventionSettings = {},
): FoundConvention {
  if (asked !== pooling)
    throw new Error(`MODEL_POOLING is ${asked}, but of this model there is only ${pooling}`);
  return { convention: { ...convention, pooling }, assumed: assumed && convention.pooling === pooling };
}

/**
 * Reads the pooling that the model's files ask for.
 *
 * @throws MemoryError when it is not supported.
 */
async function poolingIn(folder: string): Promise<Pooling | undefined> {
  const modules = await readJson(folder, MODULES_FILE);
  // A layer after the pooling is missing in the states; a model with its own output applies it there.
  if (Array.isArray(modules) && modules.some(({ type }) => /\.Dense$/.test(String(type)))) return "model";
  const config = asObject(await readJson(folder, POOLING_FILE));
  if (config === undefined) return undefined;
  const modes = modesOf(config);
  const pooling = modes.length === 1 ? POOLINGS[modes[0] as string] : undefined;
  if (pooling !== undefined && config.include_prompt !== false) return pooling;
  const asked = config.include_prompt === false ? "include_prompt false" : modes.join(" and ") || "none";
  throw failedPrecondition(
    `${join(folder, POOLING_FILE)} asks for pooling ${asked}, which there is not here; ` +
      "take another model, or set MODEL_POOLING",
  );
}

function modesOf(config: Record<string, unknown>): string[] {
  if (typeof config.pooling_mode === "string") {
    const short: Record<string, string> = { mean: "mean_tokens", cls: "cls_token" };
    return [short[config.pooling_mode] ?? config.pooling_mode];
  }
  const modes = { pooling_mode_mean_tokens: true, ...config };
  return Object.entries(modes).flatMap(([key, on]) =>
    key.startsWith("pooling_mode_") && on === true ? [key.slice("pooling_mode_".length)] : [],
  );
}

/**
 * Reads the prefixes of queries and texts. If only one has a prompt, the other has none. If all prompts
 * are empty they count as missing, because sentence-transformers writes them like that for every model.
 */
async function prefixesIn(
  folder: string,
): Promise<Pick<Convention, "queryPrefix" | "passagePrefix"> | undefined> {
  const config = asObject(await readJson(folder, PROMPTS_FILE));
  const prompts = asObject(config?.prompts);
  const promptOf = (names: readonly string[]) => {
    const name = [...names, String(config?.default_prompt_name)].find((each) => prompts?.[each] != null);
    return name === undefined ? "" : String(prompts?.[name]);
  };
  const [queryPrefix, passagePrefix] = [promptOf(QUERY_NAMES), promptOf(PASSAGE_NAMES)];
  return queryPrefix === "" && passagePrefix === "" ? undefined : { queryPrefix, passagePrefix };
}

/**
 * Returns the number of tokens that the model in a folder reads at once, including special tokens and
 * prefix.
 */
async function windowIn(folder: string): Promise<number> {
  const config = asObject(await readJson(folder, "config.json"));
  const tokenizer = asObject(await readJson(folder, "tokenizer_config.json"));
  const trained = asObject(await readJson(folder, WINDOW_FILE));
  const shift = SHIFTED.test(String(config?.model_type)) ? SHIFT : 0;
  const positions = Number(config?.max_position_embeddings ?? config?.n_positions) - shift;
  const limits = [positions, Number(tokenizer?.model_max_length), Number(trained?.max_seq_length)];
  return Math.min(WHOLE_TOKENS, ...limits.filter((limit) => limit > 0));
}

/** Describes each part in a line, such as `query prefix "query: "`. */
export function describeConvention({ convention, assumed }: FoundConvention): string[] {
  const { pooling, queryPrefix, passagePrefix } = convention;
  const quoted = (prefix: string) => (prefix === "" ? "none" : JSON.stringify(prefix));
  return [
    `pooling ${pooling}${assumed ? " (assumed)" : ""}`,
    `query prefix ${quoted(queryPrefix)}`,
    `passage prefix ${quoted(passagePrefix)}`,
  ];
}

/** Lines of `describeConvention` that an operator should see at the start: unusual values and guesses. */
export function unusualLines(found: FoundConvention): string[] {
  const usual = describeConvention({ convention: PLAIN, assumed: false });
  return describeConvention(found).filter((line) => !usual.includes(line));
}
