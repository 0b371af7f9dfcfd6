const ODD = ["", "🎉", "東京都", "getUserName", "max_batch_size", "2023-05-07", "and so on", "café", "שלום"];

/** Makes a text whose words are as unevenly common as those of a language. */
export function textOf(chance: () => number, { words, vocabulary }: { words: number; vocabulary: number }) {
  const word = () => `w${Math.floor(vocabulary ** chance())}`;
  const text = Array.from({ length: words }, word).join(" ");
  return chance() < 0.1 ? `${text} ${ODD[Math.floor(chance() * ODD.length)]}` : text;
}
