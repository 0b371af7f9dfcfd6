const CHARACTERS_MAX = 150;
const LEAD = 40;

/** Part of a text around the first of the words. */
export function excerptOf(text: string, words: readonly string[]): string {
  const plain = text.replace(/\s+/g, " ");
  const found = matcher(words)?.exec(plain);
  const start = Math.max((found?.index ?? 0) - LEAD, 0);
  const from = start === 0 ? 0 : plain.indexOf(" ", start) + 1;
  const end = from + CHARACTERS_MAX;
  const piece = plain.slice(from, end < plain.length ? plain.lastIndexOf(" ", end) : end);
  return `${from > 0 ? "… " : ""}${piece}${end < plain.length ? " …" : ""}`;
}

/** Divides a text so that every second part is one of the words. */
export function partsOf(text: string, words: readonly string[]): readonly string[] {
  const found = matcher(words);
  return found === undefined ? [text] : text.split(found);
}

function matcher(words: readonly string[]): RegExp | undefined {
  if (words.length === 0) return undefined;
  const longestFirst = [...words].sort((a, b) => b.length - a.length);
  return new RegExp(`(?<![\\p{L}\\p{N}])(${longestFirst.map(quoted).join("|")})`, "iu");
}

function quoted(word: string): string {
  return word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
