import { wordsIn } from "../../../src/index/words/words-in.js";

/** Runs work that yields to its end at once; `onYield` gets the milliseconds between two yields. */
export function run<T>(work: Generator<void, T>, onYield: (ms: number) => void = () => {}): T {
  for (;;) {
    const startMs = performance.now();
    const step = work.next();
    onYield(performance.now() - startMs);
    if (step.done) return step.value;
  }
}

/** Lists the words of a memory with their numbers of times, as `word` or `word*2`; identifiers in brackets. */
export function wordsOf(text: string, kind: "memory" | "query" = "memory"): string[] {
  return [...run(wordsIn(text, kind)).counts].flatMap(([word, { times, inIdentifiers }]) => [
    ...(times > 0 ? [times > 1 ? `${word}*${times}` : word] : []),
    ...(inIdentifiers > 0 ? [`[${word}]`] : []),
  ]);
}
