/** Queries of up to 64 KiB, by what they are made of. */
export const HOSTILE_QUERIES: Readonly<Record<string, string>> = {
  "of one word": "w1 ".repeat(21_845),
  "of one long word": "w".repeat(65_536),
  "of 10,000 different words": Array.from({ length: 10_000 }, (_, i) => `w${i.toString(36)}`).join(" "),
  "of emoji": "😀".repeat(16_384),
  "from right to left": "שלום ".repeat(7281),
  "of marks": `a${"\u0301\u0323".repeat(16_000)}`,
  "without a word": " ".repeat(65_536),
};
