import { prose } from "./prose.js";
import { QUICK } from "./quick.js";

export const FACT = "Grandmother keeps her silver violin in the attic above the old bakery.";
export const QUESTION = "Where is grandmother's violin?";
const POSITIONS = ["start", "middle", "end"] as const;
const LONG_BYTES = 60_000;

export interface Needle {
  readonly name: string;
  /** At most 60,000 bytes, with the fact once. */
  readonly text: string;
}

const proseOf = () => prose(1200).map((sentence) => `${sentence} `);

/** The needle of prose, in its middle. */
export const inProse = (): Needle => needleOf("prose", proseOf(), "middle");

/** Makes long texts of several kinds with one fact in each: at the start, in the middle or at the end. */
export function needles(): Needle[] {
  const kinds = {
    prose: proseOf(),
    "sentences without spaces between them": prose(1200),
    "text without any space": [
      "今天天气很好我们去公园散步。",
      "他们昨天在图书馆看书。",
      "市场上的苹果很新鲜。",
    ],
    emoji: ["😀🎉🍕", "👩‍👩‍👧‍👦🏳️‍🌈", "🚲🌧️🎸"],
    "emoji and spaces": ["😀 🎉 🍕 ", "👩‍👩‍👧‍👦 🏳️‍🌈 ", "🚲 🌧️ 🎸 "],
  };
  return Object.entries(kinds).flatMap(([kind, pieces], i) =>
    // The quick tests have one of each kind, at one place after the other, and the others the rest.
    POSITIONS.filter((_, j) => QUICK === (j === (i + 1) % POSITIONS.length)).map((position) =>
      needleOf(kind, pieces, position),
    ),
  );
}

const needleOf = (kind: string, pieces: readonly string[], position: (typeof POSITIONS)[number]): Needle => ({
  name: `${kind}, the fact at its ${position}`,
  text: withFact(pieces, position),
});

/** Returns the part of a text that a `match` names, in code points. */
export function partOf(text: string, { start, end }: { start: number; end: number }): string {
  return [...text].slice(start, end).join("");
}

function withFact(chunks: readonly string[], position: (typeof POSITIONS)[number]): string {
  const around: string[] = [];
  for (let bytes = Buffer.byteLength(FACT), i = 0; ; i++) {
    const chunk = chunks[i % chunks.length] as string;
    bytes += Buffer.byteLength(chunk);
    if (bytes > LONG_BYTES) break;
    around.push(chunk);
  }
  const at = { start: 0, middle: Math.floor(around.length / 2), end: around.length }[position];
  return [...around.slice(0, at), FACT, ...around.slice(at)].join("");
}
