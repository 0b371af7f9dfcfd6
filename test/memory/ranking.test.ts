import { expect, it } from "vitest";
import { systemClock } from "../../src/concurrency/clock.js";
import type { Hit, VectorQuery } from "../../src/memory/ports/index.js";
import type { Log, Sequenced, Stored } from "../../src/memory/ports/log.js";
import { findNearby } from "../../src/memory/search/nearby.js";
import { NEAR_CANDIDATES, NO_WORDS, rankBest, WORD_CANDIDATES } from "../../src/memory/search/rank.js";
import { aMemory } from "../contract/samples.js";
import { chanceOf } from "../support/chance.js";

const DIMENSIONS = 16;
const ROUNDS = 100;
const MEMORIES = 200;
const WANTED = 5;
const SPARE = 14;

const chance = chanceOf(16);
const number = () => chance.next() * 2 - 1;

function normal(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

const anywhere = () => normal(Float32Array.from({ length: DIMENSIONS }, number));

/** Makes memories of one or two windows, each near to the query or anywhere. */
function memoriesAround(query: Float32Array, spread: number, windowsMax = 2): Sequenced<Stored>[] {
  const vector = () =>
    chance.next() < 0.3 ? anywhere() : normal(query.map((value) => value + spread * number()));
  return Array.from({ length: MEMORIES }, (_, i) => {
    const vectors = Array.from({ length: 1 + chance.below(windowsMax) }, vector);
    const windows = vectors.map((_, at) => ({ start: at, end: at + 2 }));
    const all = Float32Array.from(vectors.flatMap((each) => [...each]));
    return { sequence: i + 1, entry: aMemory({ vectors: all, windows }) };
  });
}

/** Makes what the words of a query found: shares of some memories. */
function wordMatchesOf(sequences: readonly number[]) {
  const shares = new Map(sequences.map((sequence) => [sequence, chance.next() ** 3] as const));
  const judgedOf = (sequence: number) => {
    const share = shares.get(sequence);
    return share === undefined ? NO_WORDS : { share, matched: [`word ${sequence}`] };
  };
  return {
    matches: [...shares]
      .toSorted(([, a], [, b]) => b - a)
      .map(([sequence]) => sequence)
      .slice(0, WORD_CANDIDATES),
    match: async (asked: readonly number[]) => new Map(asked.map((each) => [each, judgedOf(each)] as const)),
    meanCosine: () => 0.1,
  };
}

interface Placing {
  readonly memories: readonly Sequenced<Stored>[];
  readonly queries: readonly Float32Array[];
  readonly error: number;
  readonly wordMatches?: ReturnType<typeof wordMatchesOf>;
  readonly missing?: readonly number[];
}

/** Ranks the best memories in both ways: by all candidates, and by those that may be among the best. */
async function ranking({ memories, queries, error, missing = [], ...given }: Placing) {
  const {
    wordMatches = wordMatchesOf(memories.map(({ sequence }) => sequence).filter(() => chance.next() < 0.5)),
  } = given;
  let read = 0;
  const fetch: Log["fetch"] = async ({ sequences }) => {
    read += sequences.length;
    const asked = sequences.filter((each) => !missing.includes(each));
    return { found: asked.map((each) => memories[each - 1]) as never, rest: [] };
  };
  const searched = {
    logId: "log",
    log: { fetch },
    clock: systemClock,
    fits: () => true,
    guard: <T>(work: Promise<T>) => work,
    indexes: [
      {
        size: memories.length,
        bytes: 1,
        vectors: {
          search: async ({ vector, limit, spare = 0 }: VectorQuery) =>
            hitsOf(vector, { memories, error, limit: limit + spare }),
        },
      },
    ],
  };
  const nearby = await findNearby(searched, { vectors: queries, limit: NEAR_CANDIDATES, spare: SPARE });
  const newVersions = { numbers: [], accepts: () => true };
  const found = { vectors: queries, nearby, nearMax: NEAR_CANDIDATES, error, wordMatches, newVersions };
  const all = await rankBest(searched, { ...found, wanted: memories.length });
  const readAll = read;
  const best = await rankBest(searched, { ...found, wanted: WANTED });
  const expected = { ...all, ranked: all.ranked.slice(0, WANTED) };
  const nearest = [...nearby.keys()].slice(0, NEAR_CANDIDATES).sort();
  return { expected, best, nearest, readAll, read: read - readAll };
}

/** Finds the nearest memories with one window each. */
function hitsOf(
  query: Float32Array,
  { memories, error, limit }: { memories: readonly Sequenced<Stored>[]; error: number; limit: number },
): Hit[] {
  const hits = memories.map(({ sequence, entry: { vectors, windows = [] } }) => {
    const found = windows.map((_, window) => {
      const vector = vectors.subarray(window * DIMENSIONS, (window + 1) * DIMENSIONS);
      const cosine = vector.reduce((sum, value, i) => sum + value * (query[i] as number), 0);
      return { sequence, window, similarity: cosine + error * Math.sign(number()) };
    });
    return found.toSorted((a, b) => b.similarity - a.similarity)[0] as Hit;
  });
  return hits.sort((a, b) => b.similarity - a.similarity).slice(0, limit);
}

it.each([1e-5, 2 ** -8, 0.1])(
  "ranks the same by fewer records, with an index that errs by %d",
  async (error) => {
    let [read, readAll] = [0, 0];
    for (let round = 0; round < ROUNDS; round++) {
      const queries = Array.from({ length: 1 + chance.below(2) }, anywhere);
      const memories = memoriesAround(queries[0] as Float32Array, chance.pick([0.05, 0.5, 2]));
      const ranked = await ranking({ memories, queries, error });
      expect(ranked.best).toEqual(ranked.expected);
      expect(ranked.best.ranked).toHaveLength(WANTED);
      read += ranked.read;
      readAll += ranked.readAll;
    }
    expect(read).toBeLessThan(readAll);
  },
);

it("ranks the same whatever the errors of the index, also if they decide who is among the nearest", async () => {
  let differing = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const queries = [anywhere()];
    // Far enough from each other that all at the edge are known, and with one cosine each.
    const memories = memoriesAround(queries[0] as Float32Array, 2, 1);
    // Most have some of the words, and none is found by them alone.
    const wordMatches = { ...wordMatchesOf(memories.map(({ sequence }) => sequence)), matches: [] };
    const asked = { memories, queries, wordMatches };
    const [sealed, tail] = [
      await ranking({ ...asked, error: 2 ** -8 }),
      await ranking({ ...asked, error: 1e-7 }),
    ];
    expect(sealed.best).toEqual(tail.best);
    if (sealed.nearest.join() !== tail.nearest.join()) differing++;
  }
  expect(differing).toBeGreaterThan(0);
});

it("reads on if a memory that was found is missing in the log", async () => {
  const queries = [anywhere()];
  const memories = memoriesAround(queries[0] as Float32Array, 0.5);
  const wordMatches = wordMatchesOf(memories.map(({ sequence }) => sequence));
  const { best } = await ranking({ memories, queries, error: 1e-5, wordMatches });
  const missing = best.ranked.map(({ sequence }) => sequence);
  const without = await ranking({ memories, queries, error: 1e-5, wordMatches, missing });
  expect(without.best).toEqual(without.expected);
  expect(without.best.ranked).toHaveLength(WANTED);
});

it("gives what only the words found the cosine of its stored vectors", async () => {
  const query = anywhere();
  const memories = memoriesAround(query, 0.05);
  const last = memories.length;
  const far = normal(query.map((value) => value + 0.5 * number()));
  memories[last - 1] = { sequence: last, entry: aMemory({ vectors: far }) };
  const wordMatches = {
    matches: [last],
    match: async () => new Map([[last, { share: 1, matched: ["word"] }]]),
    meanCosine: () => 0.9,
  };
  const { best } = await ranking({ memories, queries: [query], error: 1e-5, wordMatches });
  const cosine = far.reduce((sum, value, i) => sum + value * (query[i] as number), 0);
  const ranked = best.ranked.find(({ sequence }) => sequence === last);
  expect(ranked?.score).toBeCloseTo(Math.max(0, cosine), 6);
  expect(ranked?.rank).toBeCloseTo(Math.max(0, cosine) + best.weight, 6);
  expect(ranked?.matched).toEqual(["word"]);
});

it("of equal memories the older comes first, also if it was changed last", async () => {
  const query = anywhere();
  const memories = Array.from({ length: 40 }, (_, i) => ({
    sequence: i + 1,
    entry: aMemory({ vectors: query, windows: [{ start: 0, end: 2 }], createdAtMs: 40 - i }),
  }));
  const match = async (asked: readonly number[]) =>
    new Map(asked.map((each) => [each, { share: 0.5, matched: [] }] as const));
  const wordMatches = { matches: memories.map(({ sequence }) => sequence), match, meanCosine: () => 0.5 };
  const { best } = await ranking({
    memories,
    queries: [query],
    error: 1e-5,
    wordMatches: wordMatches as never,
  });
  expect(best.ranked.map(({ sequence }) => sequence)).toEqual([40, 39, 38, 37, 36]);
  expect(best.weight).toBeCloseTo(0.5, 5);
});
