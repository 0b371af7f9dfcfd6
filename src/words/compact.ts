import { Contents } from "./contents.js";
import { memoryOf, weightPlaceOf } from "./postings/posting.js";

/** Number of words or memories copied before other work gets its turn. */
const SLICE = 512;
/** Share of removed memories from which on a copy without them is made, and their minimum number. */
const GONE_SHARE = 0.3;
const GONE_MIN = 1000;

/** Tells whether searches skip too much. */
export function isFragmented({ memories }: Contents): boolean {
  return memories.gone >= Math.max(GONE_MIN, memories.size * GONE_SHARE);
}

/** Copies what lives, without a trace of removed memories. */
export function* compact(from: Contents): Generator<void, Contents> {
  const to = new Contents();
  const numbers = yield* copyMemories(from, to);
  const { words } = from.postings;
  for (let word = 0; word < words.size; word++) {
    copyWord(from, { to, word, numbers });
    if (word % SLICE === SLICE - 1) yield;
  }
  return to;
}

/** Copies the living memories; answers each one's new number. */
function* copyMemories({ memories }: Contents, to: Contents): Generator<void, Uint32Array> {
  const numbers = new Uint32Array(memories.size);
  for (let memory = 0; memory < memories.size; memory++) {
    if (!memories.lives(memory)) continue;
    numbers[memory] = to.memories.add(memories.sequenceOf(memory), memories.lengthOf(memory));
    if (memory % SLICE === SLICE - 1) yield;
  }
  return numbers;
}

function copyWord(
  { memories, postings }: Contents,
  { to, word, numbers }: { to: Contents; word: number; numbers: Uint32Array },
): void {
  const hash = postings.words.hashOf(word);
  const cursor = postings.cursor(word);
  if (cursor === undefined) return;
  do {
    for (let at = cursor.at; at < cursor.end; at++) {
      const posting = cursor.page[at] as number;
      const memory = memoryOf(posting);
      if (!memories.lives(memory)) continue;
      to.postings.add(hash, numbers[memory] as number, weightPlaceOf(posting));
    }
  } while (cursor.advance());
}
