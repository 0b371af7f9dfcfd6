import type { WordHash } from "../index/words/hash.js";
import type { Contents } from "./contents.js";
import type { Cursor } from "./postings/cursor.js";
import { memoryOf, weightPlaceOf } from "./postings/posting.js";
import { BLOCK_POSTINGS, Block } from "./snapshot/block.js";

/** Number of postings that are sorted at a time: about 8 MB. */
const SORTED_POSTINGS = 1_048_576;
/** Number of postings or words read before other work gets its turn. */
const SLICE = 8192;

/** Makes blocks of what lives, in the order of the log. Between two yields it takes a few milliseconds. */
export function* blocksOf(contents: Contents, emit: (block: Block) => void): Generator<void> {
  const counts = yield* countPostings(contents);
  const words = yield* openWords(contents);
  for (let from = 0; from < contents.memories.size; ) {
    const group = yield* gather(contents, { from, counts });
    yield* fill(words, { group, from });
    for (const { block } of group) {
      if (block.memories > 0) emit(block);
      yield;
    }
    from = group.at(-1)?.to ?? contents.memories.size;
  }
}

/** Adds the memories of a block; answers those that were wiped in it. */
export function* addBlock(contents: Contents, block: Block): Generator<void, number[]> {
  const wiped: number[] = [];
  let next = 0;
  for (let i = 0; i < block.memories; i++) {
    const { sequence, length, postings, wiped: isWiped } = block.memory(i);
    if (isWiped) wiped.push(sequence);
    const memory = isWiped ? -1 : contents.memories.add(sequence, length);
    for (const end = next + postings; next < end; next++) {
      const { low, high, weightPlace } = block.posting(next);
      if (!isWiped) contents.postings.add({ low, high }, memory, weightPlace);
      if (next % SLICE === SLICE - 1) yield;
    }
  }
  return wiped;
}

/** A word, and its postings that were not read yet. */
interface Open {
  readonly hash: WordHash;
  readonly cursor: Cursor;
}

/** A block that is being filled with the postings of the memories up to `to` (exclusive). */
interface Draft {
  readonly block: Block;
  readonly to: number;
  /** Place of each memory's next posting in the block, by its number less the first one's; -1 if it is gone. */
  readonly next: Int32Array;
  readonly from: number;
}

/** Counts the postings of each memory. */
function* countPostings({ memories, postings }: Contents): Generator<void, Uint32Array> {
  const counts = new Uint32Array(memories.size);
  let read = 0;
  for (let word = 0; word < postings.words.size; word++) {
    const cursor = postings.cursor(word);
    if (cursor === undefined) continue;
    do {
      for (let at = cursor.at; at < cursor.end; at++) {
        const memory = memoryOf(cursor.page[at] as number);
        counts[memory] = (counts[memory] as number) + 1;
      }
      read += 1 + cursor.end - cursor.at;
      if (read < SLICE) continue;
      read = 0;
      yield;
    } while (cursor.advance());
  }
  return counts;
}

function* openWords({ postings }: Contents): Generator<void, Open[]> {
  const words: Open[] = [];
  for (let word = 0; word < postings.words.size; word++) {
    const cursor = postings.cursor(word);
    if (cursor !== undefined) words.push({ hash: postings.words.hashOf(word), cursor });
    if (word % SLICE === SLICE - 1) yield;
  }
  return words;
}

/** Makes empty blocks for the next memories, as many as are sorted at a time. */
function* gather(
  contents: Contents,
  { from, counts }: { from: number; counts: Uint32Array },
): Generator<void, Draft[]> {
  const group: Draft[] = [];
  let sum = 0;
  for (let at = from; at < contents.memories.size && sum < SORTED_POSTINGS; ) {
    const draft = draftOf(contents, { from: at, counts });
    group.push(draft);
    sum += draft.block.postings;
    at = draft.to;
    yield;
  }
  return group;
}

function draftOf({ memories }: Contents, { from, counts }: { from: number; counts: Uint32Array }): Draft {
  const listed = [];
  const next: number[] = [];
  let sum = 0;
  let to = from;
  for (; to < memories.size && sum < BLOCK_POSTINGS && to - from < BLOCK_POSTINGS; to++) {
    next.push(memories.lives(to) ? sum : -1);
    if (!memories.lives(to)) continue;
    const postings = counts[to] as number;
    listed.push({ sequence: memories.sequenceOf(to), length: memories.lengthOf(to), postings });
    sum += postings;
  }
  return { block: Block.make(listed), from, to, next: Int32Array.from(next) };
}

/** Puts the postings of the group's memories into the blocks. */
function* fill(words: Open[], { group, from }: { group: readonly Draft[]; from: number }): Generator<void> {
  const to = group.at(-1)?.to ?? from;
  const draftOfMemory = new Uint32Array(to - from);
  for (const [i, draft] of group.entries()) draftOfMemory.fill(i, draft.from - from, draft.to - from);
  let read = 0;
  for (const { hash, cursor } of words) {
    for (let isMore = cursor.at < cursor.end; isMore; isMore = cursor.at === cursor.end && cursor.advance()) {
      for (; cursor.at < cursor.end; cursor.at++, read++) {
        const posting = cursor.page[cursor.at] as number;
        const memory = memoryOf(posting);
        if (memory >= to) break;
        put(group[draftOfMemory[memory - from] as number] as Draft, { memory, hash, posting });
      }
    }
    if (++read < SLICE) continue;
    read = 0;
    yield;
  }
}

function put(
  { block, next, from }: Draft,
  { memory, hash, posting }: { memory: number; hash: WordHash; posting: number },
): void {
  const place = next[memory - from] as number;
  if (place < 0) return;
  block.setPosting(place, hash.low, hash.high, weightPlaceOf(posting));
  next[memory - from] = place + 1;
}
