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

type SettingName = keyof ConventionSettings;

export interface FoundConvention {
  readonly convention: Convention;
  /** Source of each part: a setting, a file of the model, a known family, or a default. */
  readonly from: Readonly<Record<SettingName, string>>;
}

const ASSUMED = "assumed";
const POOLING_SETTING = "MODEL_POOLING";

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
  const known = family === undefined ? ASSUMED : `known of ${family.name}`;
  const [pooling, poolingFrom] = set(settings.pooling, POOLING_SETTING) ??
    (await poolingIn(folder)) ?? [family?.pooling ?? PLAIN.pooling, known];
  const { query, passage, file } = (await prefixesIn(folder)) ?? {
    query: family?.queryPrefix ?? "",
    passage: family?.passagePrefix ?? "",
    file: known,
  };
  const [queryPrefix, queryFrom] = set(settings.queryPrefix, "MODEL_QUERY_PREFIX") ?? [query, file];
  const [passagePrefix, passageFrom] = set(settings.passagePrefix, "MODEL_PASSAGE_PREFIX") ?? [passage, file];
  return {
    convention: { pooling, queryPrefix, passagePrefix, windowTokens: await windowIn(folder) },
    from: { pooling: poolingFrom, queryPrefix: queryFrom, passagePrefix: passageFrom },
  };
}

/**
 * Corrects the pooling after the model is loaded, when its outputs are known.
 *
 * @throws Error when the operator asked for another pooling.
 */
export function settled(found: FoundConvention, pooling: Pooling): FoundConvention {
  const { convention, from } = found;
  if (convention.pooling === pooling) return found;
  if (from.pooling === POOLING_SETTING) {
    throw new Error(
      `${POOLING_SETTING} is ${convention.pooling}, but of this model there is only ${pooling}`,
    );
  }
  return {
    convention: { ...convention, pooling },
    from: { ...from, pooling: "its outputs, which have no state for each token" },
  };
}

function set<T>(value: T | undefined, setting: string): readonly [value: T, from: string] | undefined {
  return value === undefined ? undefined : [value, setting];
}

/**
 * Reads the pooling that the model's files ask for, and the file's name.
 *
 * @throws MemoryError when it is not supported.
 */
async function poolingIn(folder: string): Promise<readonly [Pooling, file: string] | undefined> {
  const modules = await readJson(folder, MODULES_FILE);
  // A layer after the pooling is missing in the states; a model with its own output applies it there.
  if (Array.isArray(modules) && modules.some(({ type }) => /\.Dense$/.test(String(type)))) {
    return ["model", `${MODULES_FILE}, where a layer follows the pooling`];
  }
  const config = asObject(await readJson(folder, POOLING_FILE));
  if (config === undefined) return undefined;
  const modes = modesOf(config);
  const pooling = modes.length === 1 ? POOLINGS[modes[0] as string] : undefined;
  if (pooling !== undefined && config.include_prompt !== false) return [pooling, POOLING_FILE];
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
): Promise<{ query: string; passage: string; file: string } | undefined> {
  const config = asObject(await readJson(folder, PROMPTS_FILE));
  const prompts = asObject(config?.prompts);
  const promptOf = (names: readonly string[]) => {
    const name = [...names, String(config?.default_prompt_name)].find((each) => prompts?.[each] != null);
    return name === undefined ? "" : String(prompts?.[name]);
  };
  const [query, passage] = [promptOf(QUERY_NAMES), promptOf(PASSAGE_NAMES)];
  return query === "" && passage === "" ? undefined : { query, passage, file: PROMPTS_FILE };
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

const NAMES: Readonly<Record<SettingName, string>> = {
  pooling: "pooling",
  queryPrefix: "query prefix",
  passagePrefix: "passage prefix",
};

/** Describes each part in a line, such as `query prefix "query: " (known of e5)`. */
export function describeConvention(found: FoundConvention): string[] {
  return (Object.keys(NAMES) as SettingName[]).map((part) => describe(found, part));
}

/** Selects the lines that an operator should see at the start: unusual values and guesses. */
export function remarkable(found: FoundConvention): string[] {
  const { convention, from } = found;
  const parts = (Object.keys(NAMES) as SettingName[]).filter(
    (part) => convention[part] !== PLAIN[part] || (part === "pooling" && from[part] === ASSUMED),
  );
  return parts.map((part) => describe(found, part));
}

function describe({ convention, from }: FoundConvention, part: SettingName): string {
  const value = convention[part];
  const shown = part === "pooling" ? value : value === "" ? "none" : JSON.stringify(value);
  return `${NAMES[part]} ${shown} (${from[part]})`;
}
