import { expect, it } from "vitest";
import { systemClock } from "../../src/concurrency/clock.js";
import type { Hit } from "../../src/memory/ports/index.js";
import type { Log, Sequenced, Stored } from "../../src/memory/ports/log.js";
import { findNearby } from "../../src/memory/search/nearby.js";
import { rankBest } from "../../src/memory/search/rank.js";
import { aMemory } from "../contract/samples.js";
import { chanceOf } from "../support/chance.js";

const DIMENSIONS = 32;
const ROUNDS = 200;
const MEMORIES = 40;
const WANTED = 5;
const LIMIT = WANTED + 8;

const chance = chanceOf(15);
const number = () => chance.next() * 2 - 1;

function normal(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

const anywhere = () => normal(Float32Array.from({ length: DIMENSIONS }, number));

/** Makes memories of one to four windows: around the query, the same as an earlier one, or anywhere. */
function memoriesAround(query: Float32Array, spread: number): Sequenced<Stored>[] {
  const known = [query];
  const vector = () => {
    const kind = chance.next();
    const near = () => normal(query.map((value) => value + spread * number()));
    const made = kind < 0.2 ? chance.pick(known) : kind < 0.8 ? near() : anywhere();
    known.push(made);
    return made;
  };
  return Array.from({ length: MEMORIES }, (_, i) => {
    const vectors = Array.from({ length: 1 + chance.below(4) }, vector);
    const windows = vectors.map((_, at) => ({ start: at, end: at + 2 }));
    const all = Float32Array.from(vectors.flatMap((each) => [...each]));
    return { sequence: i + 1, entry: aMemory({ vectors: all, windows }) };
  });
}

interface Searching {
  readonly memories: readonly Sequenced<Stored>[];
  readonly queries: readonly Float32Array[];
  /** Bound of the index's error, which it uses to the full. */
  readonly error: number;
  /** Memories that the index knows and the log does not. */
  readonly missing?: readonly number[];
}

/** Searches once, and scores what was found in both ways: all of it, and only what may be wanted. */
async function search({ memories, queries, error, missing = [] }: Searching) {
  const read: number[] = [];
  const fetch: Log["fetch"] = async ({ sequences }) => {
    read.push(...sequences);
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
          search: async ({ vector, limit }: { vector: Float32Array; limit: number }) =>
            hitsOf(vector, { memories, error }).slice(0, limit),
        },
      },
    ],
  };
  const nearby = await findNearby(searched, { vectors: queries, limit: LIMIT });
  const newVersions = { numbers: [], accepts: () => true };
  const found = { vectors: queries, nearby, nearMax: LIMIT, error, newVersions };
  const all = (await rankBest(searched, { ...found, wanted: MEMORIES })).ranked.slice(0, WANTED);
  read.length = 0;
  const { ranked: best } = await rankBest(searched, { ...found, wanted: WANTED });
  return { all, best, read: read.length };
}

function hitsOf(query: Float32Array, { memories, error }: Omit<Searching, "queries">): Hit[] {
  const hits = memories.flatMap(({ sequence, entry: { vectors, windows = [] } }) =>
    windows.map((_, window) => {
      const vector = vectors.subarray(window * DIMENSIONS, (window + 1) * DIMENSIONS);
      const cosine = vector.reduce((sum, value, i) => sum + value * (query[i] as number), 0);
      return { sequence, window, similarity: cosine + error * Math.sign(number()) };
    }),
  );
  return hits.sort((a, b) => b.similarity - a.similarity);
}

it.each([1e-4, 2 ** -8, 0.1])(
  "finds the same by fewer records, with an index that errs by %d",
  async (error) => {
    let read = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const queries = Array.from({ length: 1 + chance.below(3) }, anywhere);
      const spread = chance.pick([0.001, 0.05, 0.5]);
      const memories = memoriesAround(queries[0] as Float32Array, spread);
      const found = await search({ memories, queries, error });
      expect(found.best).toEqual(found.all);
      read += found.read;
    }
    expect(read / ROUNDS).toBeLessThan(LIMIT);
  },
);

it("finds the same if all memories are as far away as can be, where every score is 0", async () => {
  const query = anywhere();
  const opposite = (by: number) => normal(query.map((value) => -value + by * number()));
  const memories = Array.from({ length: MEMORIES }, (_, i) => {
    const entry = aMemory({ vectors: opposite(i / MEMORIES), windows: [{ start: 0, end: 2 }] });
    return { sequence: i + 1, entry };
  });
  const found = await search({ memories, queries: [query], error: 1e-4 });
  expect(found.best).toEqual(found.all);
  expect(found.best.map(({ score }) => score)).toEqual([0, 0, 0, 0, 0]);
});

it("reads on if a memory that was found is missing in the log", async () => {
  const query = anywhere();
  const memories = memoriesAround(query, 0.5);
  const [nearest] = (await search({ memories, queries: [query], error: 1e-4 })).best;
  const missing = [nearest?.sequence as number];
  const found = await search({ memories, queries: [query], error: 1e-4, missing });
  expect(found.best).toEqual(found.all);
  expect(found.best).toHaveLength(WANTED);
});
