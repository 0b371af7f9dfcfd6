import type { JsonObject } from "@bufbuild/protobuf";

const WORDS =
  "cat dog rain sun train coffee tea ada grace paris london piano violin bread cheese garden river winter summer doctor teacher rocket engine budget meeting ticket parrot bicycle mountain island novel poem birthday flight keyboard server invoice allergy peanut lawyer marathon candle mirror harbour bridge sister uncle vegan jazz opera chess tennis solar market pencil museum camera thunder lantern".split(
    " ",
  );

/** A repeatable source of chance, so that a seed identifies a failing run. */
export interface Chance {
  /** Returns a number of at least 0 and less than 1. */
  next(): number;
  /** Returns a whole number from 0 to `end` - 1. */
  below(end: number): number;
  pick<T>(items: readonly T[]): T;
  /** Returns a sentence of everyday words that is unlike any other. */
  text(): string;
  metadata(): JsonObject;
}

/** Makes a source by mulberry32. */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  let texts = 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number) => Math.floor(next() * end);
  const pick = <T>(items: readonly T[]) => items[below(items.length)] as T;
  const words = (count: number) => Array.from({ length: count }, () => pick(WORDS)).join(" ");
  return {
    next,
    below,
    pick,
    text: () => `${words(6 + below(6))} ${seed}-${texts++}`,
    metadata: () => ({
      n: next() * 1e6,
      tags: [words(1), null, true],
      deep: { __proto__x: words(2), é: "" },
    }),
  };
}
