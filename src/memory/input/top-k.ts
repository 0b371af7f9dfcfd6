import { parseWhole } from "../../errors.js";

export const TOP_K_DEFAULT = 5;
export const TOP_K_MAX = 20;

/** Parses the number of results: 1–20, default 5. */
export function parseTopK(value = TOP_K_DEFAULT): number {
  return parseWhole("top_k", value, [1, TOP_K_MAX]);
}
