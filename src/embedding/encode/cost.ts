/**
 * The fixed part of a run, and that of cutting a long text, in the time of one token: measured with
 * the bundled model. What another model or machine needs for one is measured while it works (`Pace`).
 */
const RUN_COST = 12;
const CUTTING_COST = 0.07;
/** Tokens and units that a window of a long text holds on average. */
const WINDOW_TOKENS_MEAN = 56;
const WINDOW_UNITS_MEAN = 480;
/** Longer texts are cut. */
const WHOLE = { tokens: 256, units: 2048 };
/** A word of more letters is commonly two tokens, and one of still more is no word: a hash or a code. */
const WORD_LETTERS = 8;
const CODE_LETTERS = 16;
const CODE_TOKENS_PER_LETTER = 2 / 3;

/**
 * Estimates what the model needs for a text, in the time that it needs for one token. Only the
 * model's own tokenizer knows better, and that runs in the model's threads.
 */
export function costOf(text: string): number {
  const tokens = tokensIn(text);
  if (tokens <= WHOLE.tokens && text.length <= WHOLE.units) return RUN_COST + tokens;
  const windows = Math.max(tokens / WINDOW_TOKENS_MEAN, text.length / WINDOW_UNITS_MEAN);
  return windows * RUN_COST + tokens * (1 + CUTTING_COST);
}

/** The part of a long text's cost that cutting it into windows takes. */
export function cuttingCostOf(text: string): number {
  return RUN_COST + tokensIn(text) * CUTTING_COST;
}

function tokensIn(text: string): number {
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
      // Punctuation, and letters of other scripts, are often tokens of their own.
      if (code > 0x20) tokens++;
    }
  }
  return tokens;
}

/** Whether a UTF-16 unit is an ASCII letter or digit. */
function isWordCharacter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39);
}
