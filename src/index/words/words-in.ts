import { stemmer } from "stemmer";
import { Joiner, mayHaveSigns, namedBySigns, partsOf } from "./identifiers.js";
import { isPlain, normalize } from "./normalize.js";

/**
 * English words that say little about a text, and what a contraction leaves when it is split: `don't` becomes
 * `don` and `t`.
 */
const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    "a an the this that these those some any each such other another same own only both more most much many",
    "i me my you your he him his himself she her we our us they them their it its",
    "who whom what which where when why how",
    "am is are was were be been being have has had having do does did doing",
    "can could will would shall should may might must",
    "and or but if because as than while so not no nor",
    "of at by for with about against between into through during before after above below to from",
    "up down in out on off over under",
    "here there now then also just very too",
    "s t d ll m re ve don didn doesn isn aren wasn weren hasn haven hadn couldn wouldn shouldn won",
  ].flatMap((words) => words.split(" ")),
);

/** Maximum number of stems that are kept. */
const STEMS_MAX = 50_000;
/**
 * Longest word whose stem is kept. V8 copies a substring of up to 12 characters; a longer one would keep the
 * whole text in memory.
 */
const CACHED_CHARS_MAX = 12;
/** A longer word is no English word, and is left as it is. */
const STEMMED_CHARS_MAX = 64;

const stems = new Map<string, string>();

/** Number of words read before other work may run: about a millisecond. */
const SLICE_WORDS = 512;

const inScripts = (...scripts: string[]) => scripts.map((script) => `\\p{Script=${script}}`).join("");
/** Scripts of which a single character is often a word. */
const SYLLABIC = inScripts("Han", "Hiragana", "Katakana", "Hangul");
/** Scripts that put no space between words, or none between a noun and what governs it, as Korean does. */
const GLUED = SYLLABIC + inScripts("Thai", "Lao", "Khmer", "Myanmar");
/** Greek letters stand in Latin words as signs do: `μm`. */
const LATIN = inScripts("Latin", "Greek", "Common", "Inherited");
const PLAIN_WORD = /[A-Za-z0-9]+/g;
/** A word is of one script, with digits where the script has spaces. An emoji is a word too. */
const WORD = new RegExp(
  [
    `[${GLUED}][${GLUED}\\p{M}ー]*`,
    `\\p{N}*[\\p{L}&&[${LATIN}]][[\\p{L}&&[${LATIN}]]\\p{N}\\p{M}]*`,
    `\\p{N}*[\\p{L}--[${LATIN}${GLUED}]][[\\p{L}--[${LATIN}${GLUED}]]\\p{N}\\p{M}]*`,
    "\\p{N}[\\p{N}\\p{M}]*",
    "\\p{RI}{2}",
    "[[\\p{ExtPict}\\u2600-\\u27bf]--[©®]][\\u{e0020}-\\u{e007f}]*",
  ].join("|"),
  "gv",
);
const BEGINS_GLUED = new RegExp(`^[${GLUED}]`, "u");
const SYLLABLES = new RegExp(`^[${SYLLABIC}]`, "u");

/** `C` is another language than `C++` and `C#`. */
const LETTER_WITH_SIGNS = /^\p{L}[+#]+$/u;

const A_CODE = 65;
const PLAIN_CODE_MAX = 127;

/** Kind of a text: a memory is found by the parts of its identifiers, and by single letters of pairs, too. */
export type Kind = "memory" | "query";

/** Number of times that a text has one word. */
export interface Count {
  /** Number of times as a word. */
  times: number;
  /** Number of times as an identifier, or as a part of one, beside the text's words. */
  inIdentifiers: number;
  /** The word as the text has it, in lower case. */
  readonly surface: string;
}

/** The words of one text. */
export interface Words {
  /** Counts by word, in the order in which the words first appear. */
  readonly counts: ReadonlyMap<string, Count>;
  /** Number of words, with repetitions but without identifiers. */
  readonly length: number;
  /** Number of characters of the text that were left out, because they were too many. */
  readonly leftOut: number;
}

/**
 * Reads the words of a text: in lower case, without accents, stop words and English endings. Scripts without
 * spaces give pairs of letters, and in a memory single ones too. An identifier counts as a whole beside its
 * words, and in a memory by its parts too. What counts beside words does not add to the length. It yields every
 * millisecond or so.
 */
export function* wordsIn(text: string, kind: Kind): Generator<void, Words> {
  const normalized = yield* normalize(text);
  const words = new Collected(kind, normalized.leftOut);
  const joiner = new Joiner(normalized.text);
  const pattern = isPlain(normalized.text) ? PLAIN_WORD : WORD;
  const hasSigns = mayHaveSigns(normalized.text);
  let read = 0;
  for (const { 0: word, index } of normalized.text.matchAll(pattern)) {
    const to = index + word.length;
    words.identify(joiner.next(index, to));
    if (pattern === WORD && BEGINS_GLUED.test(word)) yield* readGlued(word, words);
    else readWord(word, hasSigns ? namedBySigns(normalized.text, index, to) : undefined, words);
    if (++read % SLICE_WORDS === 0) yield;
  }
  words.identify(joiner.end());
  return words;
}

function readWord(word: string, named: string | undefined, words: Collected): void {
  if (named !== undefined && LETTER_WITH_SIGNS.test(named)) {
    words.addLetters(named);
    return;
  }
  words.identify(named);
  const lower = word.toLowerCase();
  words.add(lower);
  if (words.kind === "memory" && mayHaveParts(word, lower)) {
    for (const part of partsOf(word)) words.addPart(part);
  }
}

/** Quick check: false for most words, which have no parts: those in lower case that do not begin with a digit. */
function mayHaveParts(word: string, lower: string): boolean {
  const first = word.charCodeAt(0);
  return word !== lower || first < A_CODE || first > PLAIN_CODE_MAX;
}

function* readGlued(run: string, words: Collected): Generator<void> {
  const letters = [...run.toLowerCase()];
  if (letters.length === 1) {
    words.addLetters(run);
    return;
  }
  const isFoundByOne = words.kind === "memory" && SYLLABLES.test(run);
  for (const [i, letter] of letters.entries()) {
    const next = letters[i + 1];
    if (next !== undefined) words.addLetters(letter + next);
    if (isFoundByOne) words.identify(letter);
    if (i % SLICE_WORDS === SLICE_WORDS - 1) yield;
  }
}

class Collected implements Words {
  readonly counts = new Map<string, Count>();
  length = 0;

  constructor(
    readonly kind: Kind,
    readonly leftOut: number,
  ) {}

  /** Adds a word of the text. */
  add(surface: string): void {
    if (!STOP_WORDS.has(surface)) this.#count(stem(surface), surface);
  }

  /** Adds letters that are a word as they are. */
  addLetters(letters: string): void {
    this.#count(letters, letters);
  }

  /** Adds a part of an identifier. */
  addPart(part: string): void {
    if (!STOP_WORDS.has(part)) this.#countOf(stem(part), part).inIdentifiers++;
  }

  /** Adds an identifier as a whole, or another word that counts beside the others. */
  identify(whole: string | undefined): void {
    if (whole !== undefined) this.#countOf(whole, whole).inIdentifiers++;
  }

  #count(word: string, surface: string): void {
    this.#countOf(word, surface).times++;
    this.length++;
  }

  #countOf(word: string, surface: string): Count {
    const known = this.counts.get(word);
    if (known !== undefined) return known;
    const count = { times: 0, inIdentifiers: 0, surface };
    this.counts.set(word, count);
    return count;
  }
}

/** Takes English endings off a word in lower case, by Porter's rules. */
function stem(word: string): string {
  if (word.length > STEMMED_CHARS_MAX) return word;
  if (word.length > CACHED_CHARS_MAX) return stemmer(word);
  const known = stems.get(word);
  if (known !== undefined) return known;
  if (stems.size >= STEMS_MAX) stems.clear();
  const found = stemmer(word);
  stems.set(word, found);
  return found;
}
