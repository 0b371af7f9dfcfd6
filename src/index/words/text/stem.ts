import { stemmer } from "stemmer";

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

/** Takes English endings off a word in lower case, by Porter's rules. */
export function stem(word: string): string {
  if (word.length > STEMMED_CHARS_MAX) return word;
  if (word.length > CACHED_CHARS_MAX) return stemmer(word);
  const known = stems.get(word);
  if (known !== undefined) return known;
  if (stems.size >= STEMS_MAX) stems.clear();
  const found = stemmer(word);
  stems.set(word, found);
  return found;
}
