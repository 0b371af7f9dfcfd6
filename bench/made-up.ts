import { chanceOf } from "../test/support/chance.js";

/** Words of a text, stop words included: about 100 characters. */
const TEXT_WORDS = 18;
/** Words of a question. */
const QUESTION_WORDS = 8;
/** Exponent of Heaps' law: the vocabulary grows with the number of words read. */
const HEAPS = 0.6;
const STOP = "the of a to and in is it that was".split(" ");

/** Texts and questions that mean nothing, but whose words are as unevenly common as those of a language. */
export interface MadeUp {
  text(): string;
  question(): string;
}

/** Makes texts for this number of memories, always the same for a seed. */
export function madeUp({ memories, seed }: { memories: number; seed: number }): MadeUp {
  const { next: chance } = chanceOf(seed);
  const vocabulary = Math.round(8 * (memories * TEXT_WORDS) ** HEAPS);
  // By Zipf's law. Half of all words are stop words, as in English.
  const word = () =>
    chance() < 0.5
      ? (STOP[Math.floor(chance() * STOP.length)] as string)
      : `w${Math.floor(vocabulary ** chance()).toString(36)}`;
  const words = (count: number) => Array.from({ length: count }, word).join(" ");
  return { text: () => words(TEXT_WORDS), question: () => words(QUESTION_WORDS) };
}
