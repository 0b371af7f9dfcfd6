import { WHOLE_TOKENS, WHOLE_UNITS } from "./windows.js";

/**
 * Fixed cost of a run, and of cutting a long text, in units of the time for one token. Measured with the
 * bundled model; `Throughput` measures what a unit takes on another model or machine.
 */
export const RUN_COST = 12;
const CUTTING_COST = 0.07;
/** Average number of tokens and of UTF-16 units in a window of a long text. */
const WINDOW_TOKENS_MEAN = 56;
const WINDOW_UNITS_MEAN = 480;
/** Longer words are usually two tokens; much longer ones are hashes or codes. */
const WORD_LETTERS = 8;
const CODE_LETTERS = 16;
const CODE_TOKENS_PER_LETTER = 2 / 3;

/**
 * Estimates the time for a text in units of the time for one token. An exact count needs the model's
 * tokenizer, which runs in the model's threads only.
 */
export function costOf(text: string): number {
  const tokens = tokensIn(text);
  if (tokens <= WHOLE_TOKENS && text.length <= WHOLE_UNITS) return RUN_COST + tokens;
  const windows = Math.max(tokens / WINDOW_TOKENS_MEAN, text.length / WINDOW_UNITS_MEAN);
  return windows * RUN_COST + tokens * (1 + CUTTING_COST);
}

/** Estimates the cost of cutting a long text into windows. */
export function cuttingCostOf(text: string): number {
  return RUN_COST + tokensIn(text) * CUTTING_COST;
}

/** Estimates the number of tokens in a text: mostly up to a fifth below WordPiece's own, of codes far more. */
export function tokensIn(text: string): number {
  let tokens = 0;
  let letters = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isWordCharacter(code)) {
      letters++;
      if (letters > CODE_LETTERS) tokens += CODE_TOKENS_PER_LETTER;
      else if (letters === 1 || letters === WORD_LETTERS + 1) tokens++;
    } else {
      letters = 0;
      // Punctuation and letters of other scripts are often separate tokens.
      if (code > 0x20) tokens++;
    }
  }
  return tokens;
}

/** True if a UTF-16 unit is an ASCII letter or digit. */
function isWordCharacter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39);
}
