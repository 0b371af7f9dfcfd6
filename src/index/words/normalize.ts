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
/** Greek capitals are written without accents. */
const ACCENTS = /([\p{Script=Latin}\p{Script=Greek}])\p{Mn}+/gu;
/**
 * Signs with and without which a word is the same: those that are invisible, but for the tags that tell flags
 * apart, the colours and frames of emoji, marks of a trade, and letters that stand for an apostrophe.
 */
const INVISIBLE = /(?![\u{e0020}-\u{e007f}])[\u20e3\p{DI}\p{EMod}™℠ʻʼ]/gu;
/** Hebrew and Arabic signs for vowels, which are seldom written, and the stroke that stretches Arabic words. */
const POINTS = /[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652\u0670]/g;

/** Letters that do not decompose, and how they are written where they are missing. */
// biome-ignore format: a table, one alphabet a line
const PLAINER: Readonly<Record<string, string>> = {
  ß: "ss", ẞ: "SS", æ: "ae", Æ: "Ae", œ: "oe", Œ: "Oe", þ: "th", Þ: "Th", ø: "o", Ø: "O",
  ł: "l", Ł: "L", đ: "d", Đ: "D", ð: "d", Ð: "D", ħ: "h", Ħ: "H", ŧ: "t", Ŧ: "T", ŋ: "n", Ŋ: "N",
  ı: "i", ɨ: "i", Ɨ: "I", ɓ: "b", Ɓ: "B", ɗ: "d", Ɗ: "D", ƙ: "k", Ƙ: "K", ƴ: "y", Ƴ: "Y",
  ё: "е", Ё: "Е", "♯": "#",
  // Alefs with and without hamza or madda, and the letters that Arabic and Persian keyboards have for one.
  "\u0622": "\u0627", "\u0623": "\u0627", "\u0625": "\u0627",
  "\u064a": "\u06cc", "\u0649": "\u06cc", "\u0643": "\u06a9",
};
const LETTERS = new RegExp(`[${Object.keys(PLAINER).join("")}]`, "gu");

/** A text in the form in which its words are compared, but for upper and lower case. */
export interface Normalized {
  readonly text: string;
  /** Number of characters of the text that were left out. */
  readonly leftOut: number;
}

/** True if a text is ASCII, which needs no normalisation. */
export function isPlain(text: string): boolean {
  return PLAIN.test(text);
}

/**
 * Brings a text to compatibility form, without signs that are invisible, and takes the accents off Latin and
 * Greek letters and the vowel signs off Hebrew and Arabic ones. In other scripts a mark makes another letter. It
 * yields between steps that take a few milliseconds each for the longest text.
 */
export function* normalize(text: string): Generator<void, Normalized> {
  if (isPlain(text)) return { text, leftOut: 0 };
  const visible = text.replace(INVISIBLE, "");
  yield;
  const stacked = visible.replace(MANY_MARKS, "$1");
  yield;
  const whole = stacked.normalize("NFKC");
  const compatible = whole.slice(0, TEXT_CHARS_MAX);
  yield;
  const decomposed = compatible.normalize("NFD");
  yield;
  const unaccented = decomposed.replace(ACCENTS, "$1");
  yield;
  const bare = unaccented.replace(POINTS, "").normalize("NFC");
  yield;
  const folded = bare.replace(LETTERS, (letter) => PLAINER[letter] as string);
  const leftOut = visible.length - stacked.length + whole.length - compatible.length;
  return { text: folded, leftOut };
}
