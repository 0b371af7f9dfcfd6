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

/** Returns the length of the longest entry of the vocabulary, in characters. */
function longestOf(entries: ReadonlyMap<string, number>, prefix: string): number {
  let longest = 1;
  for (const entry of entries.keys()) {
    const bare = entry.startsWith(prefix) ? entry.slice(prefix.length) : entry;
    longest = Math.max(longest, [...bare].length);
  }
  return longest;
}

function slices<T>(all: readonly T[], length: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / length) }, (_, i) =>
    all.slice(i * length, (i + 1) * length),
  );
}
