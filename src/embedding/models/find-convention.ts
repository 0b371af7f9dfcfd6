import { type Convention, PLAIN, type Pooling } from "../encode/convention.js";
import { WHOLE_TOKENS } from "../encode/windows.js";
import { familyOf } from "./families.js";
import { asObject, readJson, WINDOW_FILE } from "./model-files.js";
import { poolingIn, prefixesIn } from "./sentence-transformers.js";

/** Models whose positions are counted from the number after the padding token's. */
const SHIFTED = /roberta|camembert|mpnet/;
const SHIFT = 2;

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
