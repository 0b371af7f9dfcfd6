/** Characters of a text that are read for its words. */
const READ_CHARS = 400;
/** Shortest word of a script that puts spaces between its words. */
const LEAST_CHARS = 3;

const SPACED = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{M}\p{N}'’_-]+$/u;
const NUMBER = /^\p{N}+$/u;
const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });

/** Lists the different words of a text's beginning, in lower case, without numbers and very short ones. */
export function wordsOf(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  for (const { segment, isWordLike } of segmenter.segment(text.slice(0, READ_CHARS))) {
    if (!isWordLike || NUMBER.test(segment)) continue;
    if (segment.length >= LEAST_CHARS || !SPACED.test(segment)) words.add(segment.toLowerCase());
  }
  return words;
}
