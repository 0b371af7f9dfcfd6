import { parseWhole } from "../../errors.js";

export const TOP_K_DEFAULT = 5;
/** Maximum number of results unless the operator allows more, and the most that one can allow. */
export const TOP_K_MAX = 20;
export const TOP_K_CEILING = 200;

/** Parses the number of results: 1 to `max`, default 5. */
export function parseTopK(value = TOP_K_DEFAULT, max = TOP_K_MAX): number {
  return parseWhole("top_k", value, [1, max]);
}
