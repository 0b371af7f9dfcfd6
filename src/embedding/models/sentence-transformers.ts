import { join } from "node:path";
import { failedPrecondition } from "../../errors.js";
import type { Pooling } from "../encode/convention.js";
import { asObject, MODULES_FILE, POOLING_FILE, PROMPTS_FILE, readJson } from "./model-files.js";

/**
 * Names of the supported poolings in these files. A mean divided by another number has the same
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

/**
 * Reads the pooling that the model's files ask for, and the file's name.
 *
 * @throws MemoryError when it is not supported.
 */
export async function poolingIn(folder: string): Promise<readonly [Pooling, file: string] | undefined> {
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
