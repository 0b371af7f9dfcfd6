/**
 * Maximum length of a normalised text, in UTF-16 units: twice the longest text that the service takes. Only
 * a text of ligatures that stand for whole phrases becomes longer.
 */
export const TEXT_CHARS_MAX = 131_072;

/**
 * Maximum number of marks on one letter; Unicode's stream-safe text has 30. Sorting them takes the square of
 * their number: 1.3 seconds for 64 KiB of nothing else.
 */
const MARKS_MAX = 30;

const PLAIN = /^[\0-\x7f]*$/;
/** The half-width voicing signs are letters that become marks. */
const MANY_MARKS = new RegExp(`([\\p{M}\\uff9e\\uff9f]{${MARKS_MAX}})[\\p{M}\\uff9e\\uff9f]+`, "gu");
const ACCENTS = /(\p{Script=Latin})\p{Mn}+/gu;

/** A text in the form in which its words are compared, but for upper and lower case. */
export interface Normalized {
  readonly text: string;
  /** Number of characters of the text that were left out. */
  readonly leftOut: number;
}

/** Tells whether a text is ASCII, which needs no normalisation. */
export function isPlain(text: string): boolean {
  return PLAIN.test(text);
}

/**
 * Brings a text to compatibility form and takes the accents off Latin letters. In other scripts a mark makes
 * another letter. It yields between steps that take a few milliseconds each for the longest text.
 */
export function* normalize(text: string): Generator<void, Normalized> {
  if (isPlain(text)) return { text, leftOut: 0 };
  const stacked = text.replace(MANY_MARKS, "$1");
  yield;
  const whole = stacked.normalize("NFKC");
  const compatible = whole.slice(0, TEXT_CHARS_MAX);
  yield;
  const decomposed = compatible.normalize("NFD");
  yield;
  const bare = decomposed.replace(ACCENTS, "$1");
  yield;
  const leftOut = text.length - stacked.length + whole.length - compatible.length;
  return { text: bare.normalize("NFC"), leftOut };
}
