import { WHOLE_TOKENS } from "../encode/windows.js";
import { asObject, readJson } from "./model-json.js";
import { WINDOW_FILE } from "./sentence-transformers.js";

/** Models whose positions are counted from the number after the padding token's. */
const SHIFTED = /roberta|camembert|mpnet/;
const SHIFT = 2;

/**
 * Returns the number of tokens that the model in a folder reads at once, including special tokens and
 * prefix.
 */
export async function windowIn(folder: string): Promise<number> {
  const config = asObject(await readJson(folder, "config.json"));
  const tokenizer = asObject(await readJson(folder, "tokenizer_config.json"));
  const trained = asObject(await readJson(folder, WINDOW_FILE));
  const shift = SHIFTED.test(String(config?.model_type)) ? SHIFT : 0;
  const positions = Number(config?.max_position_embeddings ?? config?.n_positions) - shift;
  const limits = [positions, Number(tokenizer?.model_max_length), Number(trained?.max_seq_length)];
  return Math.min(WHOLE_TOKENS, ...limits.filter((limit) => limit > 0));
}
