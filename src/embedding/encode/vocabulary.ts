/** Scripts by their names in Unicode. */
const SCRIPTS = ["Latin", "Cyrillic", "Greek", "Arabic", "Hebrew", "Armenian", "Georgian", "Devanagari"]
  .concat(["Bengali", "Gujarati", "Gurmukhi", "Kannada", "Malayalam", "Oriya", "Sinhala", "Tamil", "Telugu"])
  .concat(["Thai", "Lao", "Khmer", "Myanmar", "Ethiopic", "Hangul", "Hiragana", "Katakana", "Han"])
  .map((name) => ({ name, character: new RegExp(`\\p{Script=${name}}`, "u") }));
/** Characters that tokenizers of texts often lack: they count as a script of their own. */
const EMOJI = /\p{Emoji_Presentation}/u;
// It takes milliseconds to compile, so it stands here once and not in each script's pattern.
const LETTER = /\p{L}/u;

/**
 * Entries of several of its letters, or of any, that a script has at least in a vocabulary which knows it. That of
 * English BERT has 488 Chinese characters, 84 Arabic letters and 8 pieces of Cyrillic words; those of
 * multilingual models have thousands.
 */
const LONGER_ENTRIES_LEAST = 100;
const ENTRIES_LEAST = 1_000;
/** Number of byte-level entries, written so, by which a vocabulary of bytes is known: it has no letters. */
const BYTE_LEVEL = { mark: "Ġ", least: 100 };

const LAST_ASCII = 0x7f;
/** Bit by which capital ASCII letters differ from small ones. */
const SMALL = 0x20;
const [SMALL_A, SMALL_Z] = [0x61, 0x7a];

/**
 * Lists the scripts of which a vocabulary has more entries than single letters; undefined if its entries stand for
 * bytes.
 */
export function scriptsIn(entries: readonly string[]): readonly string[] | undefined {
  if (entries.filter((entry) => entry.startsWith(BYTE_LEVEL.mark)).length >= BYTE_LEVEL.least)
    return undefined;
  const scriptOf = scriptFinder();
  const counts = new Map<string, { all: number; longer: number }>();
  for (const entry of entries) {
    let first: string | undefined;
    let letters = 0;
    for (const character of entry) {
      const script = scriptOf(character);
      if (script === undefined) continue;
      first ??= script;
      if (++letters > 1) break;
    }
    if (first === undefined) continue;
    const count = counts.get(first) ?? { all: 0, longer: 0 };
    count.all++;
    if (letters > 1) count.longer++;
    counts.set(first, count);
  }
  const isKnown = ({ all, longer }: { all: number; longer: number }) =>
    longer >= LONGER_ENTRIES_LEAST || all >= ENTRIES_LEAST;
  return [...counts].flatMap(([script, count]) => (isKnown(count) ? [script] : []));
}

/**
 * Computes which share of a text's letters and emoji is in scripts that a vocabulary hardly knows, from 0 to
 * 1; 0 for a text without any.
 */
export function unreadShareOf(text: string, known: readonly string[]): number {
  const scriptOf = scriptFinder();
  let [all, unread] = [0, 0];
  for (const character of text) {
    const script = scriptOf(character);
    if (script === undefined) continue;
    all++;
    if (!known.includes(script)) unread++;
  }
  return all === 0 ? 0 : unread / all;
}

/** Makes a function that returns the script of a letter or emoji, `other` for all scripts that are not listed. */
function scriptFinder(): (character: string) => string | undefined {
  const found = new Map<string, { readonly script: string | undefined }>();
  const find = (character: string) => {
    if (EMOJI.test(character)) return "emoji";
    if (!LETTER.test(character)) return undefined;
    return SCRIPTS.find((script) => script.character.test(character))?.name ?? "other";
  };
  return (character) => {
    const code = character.charCodeAt(0);
    if (code <= LAST_ASCII)
      return (code | SMALL) >= SMALL_A && (code | SMALL) <= SMALL_Z ? "Latin" : undefined;
    let known = found.get(character);
    if (known === undefined) {
      known = { script: find(character) };
      found.set(character, known);
    }
    return known.script;
  };
}

/** Part of the WordPiece tokenizers, such as BERT's, that is used here. */
interface WordPiece {
  readonly max_input_chars_per_word: number;
  readonly unk_token: string;
  readonly tokens_to_ids: ReadonlyMap<string, number>;
  readonly config: { readonly continuing_subword_prefix: string };
  encode(words: readonly string[]): string[];
}

/**
 * Makes a WordPiece tokenizer read words of any length. Without it, each word of more than 100
 * characters becomes the same unknown token, so that all hashes, codes and base64 data look alike. With
 * it such a word is read in pieces of 100 characters. All other words are read as before, and faster,
 * because a long word is compared only with as many characters as the longest entry of the vocabulary
 * has. Other kinds of tokenizers have no such limit and stay as they are.
 */
export function readLongWords(tokenizer: unknown): void {
  const model = (tokenizer as { _tokenizer?: { model?: unknown } })._tokenizer?.model;
  if (!isWordPiece(model)) return;
  const prefix = model.config.continuing_subword_prefix;
  const longest = longestOf(model.tokens_to_ids, prefix);
  const max = model.max_input_chars_per_word;
  const encode = (word: string): string[] => {
    const characters = [...word];
    if (characters.length <= max) return encodeWord(characters) ?? [model.unk_token];
    return slices(characters, max).flatMap((slice) => encodeWord(slice) ?? [model.unk_token]);
  };
  const encodeWord = (characters: readonly string[]): string[] | undefined => {
    const tokens: string[] = [];
    for (let start = 0; start < characters.length; ) {
      let end = Math.min(characters.length, start + longest);
      let token = "";
      for (; end > start; end--) {
        token = (start > 0 ? prefix : "") + characters.slice(start, end).join("");
        if (model.tokens_to_ids.has(token)) break;
      }
      if (end === start) return undefined;
      tokens.push(token);
      start = end;
    }
    return tokens;
  };
  model.encode = (words) => words.flatMap(encode);
}

function isWordPiece(model: unknown): model is WordPiece {
  const { max_input_chars_per_word: max, tokens_to_ids: ids, encode } = (model ?? {}) as Partial<WordPiece>;
  return typeof max === "number" && ids instanceof Map && typeof encode === "function";
}

/** Returns the length of the longest entry of the vocabulary in UTF-16 units, of which a character has at least one. */
function longestOf(entries: ReadonlyMap<string, number>, prefix: string): number {
  let longest = 1;
  for (const entry of entries.keys()) {
    const bare = entry.startsWith(prefix) ? entry.slice(prefix.length) : entry;
    longest = Math.max(longest, bare.length);
  }
  return longest;
}

function slices<T>(all: readonly T[], length: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / length) }, (_, i) =>
    all.slice(i * length, (i + 1) * length),
  );
}
