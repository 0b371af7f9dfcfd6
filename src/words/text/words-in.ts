import { Joiner, partsOf } from "./identifiers.js";
import { isPlain, normalize } from "./normalize.js";
import { stem } from "./stem.js";
import { STOP_WORDS } from "./stop-words.js";

/** Number of words read before other work gets its turn: about a millisecond. */
const SLICE_WORDS = 512;

const GLUED_SCRIPTS = ["Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"]
  .map((script) => `\\p{Script=${script}}`)
  .join("");
const PLAIN_WORD = /[A-Za-z0-9]+/g;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
/** Scripts that put no space between words. */
const GLUED = new RegExp(`[${GLUED_SCRIPTS}]`, "u");
const RUNS = new RegExp(`[${GLUED_SCRIPTS}\\p{M}ー]+|[^${GLUED_SCRIPTS}\\p{M}ー]+`, "gu");

const A_CODE = 65;
const PLAIN_CODE_MAX = 127;

/** Kind of a text: a memory is found by the parts of its identifiers too. */
export type Kind = "memory" | "query";

/** Number of times that a text has one word. */
export interface Count {
  /** Number of times as a word. */
  times: number;
  /** Number of times as an identifier, or as a part of one, beside the text's words. */
  inIdentifiers: number;
  /** The word as the text has it, in lower case. */
  readonly seen: string;
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
 * spaces give pairs of letters. An identifier counts as a whole beside its words, and in a memory by its parts
 * too; neither adds to the length. It yields every millisecond or so.
 */
export function* wordsIn(text: string, kind: Kind): Generator<void, Words> {
  const normalized = yield* normalize(text);
  const words = new Collected(kind, normalized.leftOut);
  const joiner = new Joiner(normalized.text);
  const pattern = isPlain(normalized.text) ? PLAIN_WORD : WORD;
  let read = 0;
  for (const { 0: word, index } of normalized.text.matchAll(pattern)) {
    words.identify(joiner.next(index, index + word.length));
    if (pattern === WORD && GLUED.test(word)) yield* readGlued(word, words);
    else readWord(word, words);
    if (++read % SLICE_WORDS === 0) yield;
  }
  words.identify(joiner.end());
  return words;
}

function readWord(word: string, words: Collected): void {
  const lower = word.toLowerCase();
  words.add(lower);
  if (words.kind === "memory" && mayHaveParts(word, lower)) {
    for (const part of partsOf(word)) words.addPart(part);
  }
}

/** Tells at once that most words have no parts: those in lower case that do not begin with a digit. */
function mayHaveParts(word: string, lower: string): boolean {
  const first = word.charCodeAt(0);
  return word !== lower || first < A_CODE || first > PLAIN_CODE_MAX;
}

function* readGlued(glued: string, words: Collected): Generator<void> {
  for (const [run] of glued.matchAll(RUNS)) {
    if (!GLUED.test(run)) {
      readWord(run, words);
      continue;
    }
    const letters = [...run.toLowerCase()];
    if (letters.length === 1) words.addPair(run);
    for (let i = 0; i + 1 < letters.length; i++) {
      words.addPair(`${letters[i]}${letters[i + 1]}`);
      if (i % SLICE_WORDS === SLICE_WORDS - 1) yield;
    }
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
  add(seen: string): void {
    if (!STOP_WORDS.has(seen)) this.#count(stem(seen), seen);
  }

  /** Adds two letters that stand together. */
  addPair(pair: string): void {
    this.#count(pair, pair);
  }

  /** Adds a part of an identifier. */
  addPart(part: string): void {
    if (!STOP_WORDS.has(part)) this.#of(stem(part), part).inIdentifiers++;
  }

  /** Adds an identifier as a whole. */
  identify(whole: string | undefined): void {
    if (whole !== undefined) this.#of(whole, whole).inIdentifiers++;
  }

  #count(word: string, seen: string): void {
    this.#of(word, seen).times++;
    this.length++;
  }

  #of(word: string, seen: string): Count {
    const known = this.counts.get(word);
    if (known !== undefined) return known;
    const count = { times: 0, inIdentifiers: 0, seen };
    this.counts.set(word, count);
    return count;
  }
}
