import { join } from "node:path";
import { MemoryError } from "../../errors.js";
import type { Pooling } from "../encode/convention.js";
import { asObject, readJson } from "./model-json.js";

/**
 * The files in which sentence-transformers keeps what its models expect. Models need not have them.
 * https://sbert.net/docs/package_reference/sentence_transformer/models.html
 */
export const POOLING_FILE = "1_Pooling/config.json";
export const PROMPTS_FILE = "config_sentence_transformers.json";
export const MODULES_FILE = "modules.json";
export const WINDOW_FILE = "sentence_bert_config.json";

/** Its names for the poolings that there are here. Divided by another number, a mean has the same direction. */
const POOLINGS: Readonly<Record<string, Pooling>> = {
  mean_tokens: "mean",
  mean_sqrt_len_tokens: "mean",
  cls_token: "cls",
  lasttoken: "last",
};

/** Under which names it looks for the prompt of a query and of a document; https://sbert.net (encode_document). */
const QUERY_NAMES = ["query"];
const PASSAGE_NAMES = ["document", "passage", "corpus"];

/** @throws MemoryError when the model asks for a pooling that there is not. */
export async function poolingIn(folder: string): Promise<{ pooling: Pooling; file: string } | undefined> {
  const modules = await readJson(folder, MODULES_FILE);
  // What follows the pooling is not in the states; a model with an output of its own has it there.
  if (Array.isArray(modules) && modules.some(({ type }) => /\.Dense$/.test(String(type)))) {
    return { pooling: "model", file: `${MODULES_FILE}, where a layer follows the pooling` };
  }
  const config = asObject(await readJson(folder, POOLING_FILE));
  if (config === undefined) return undefined;
  const modes = modesOf(config);
  const pooling = modes.length === 1 ? POOLINGS[modes[0] as string] : undefined;
  if (pooling !== undefined && config.include_prompt !== false) return { pooling, file: POOLING_FILE };
  const asked = config.include_prompt === false ? "include_prompt false" : modes.join(" and ") || "none";
  throw new MemoryError(
    "failed_precondition",
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
 * Of a model that has a prompt for only one of the two, the other is read as it is. Where all are
 * empty nothing is said: they are written like that for every model.
 */
export async function prefixesIn(
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
