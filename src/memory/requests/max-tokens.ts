import { parseWhole } from "../../errors.js";

/** The highest int32 of the contract. */
const TOKENS_MAX = 2_147_483_647;

/** Parses the number of tokens that an answer may have; undefined means any. */
export function parseMaxTokens(value: number | undefined): number | undefined {
  return value === undefined ? undefined : parseWhole("max_tokens", value, [1, TOKENS_MAX]);
}
