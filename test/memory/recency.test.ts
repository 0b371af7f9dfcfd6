import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Filter } from "../../src/memory/ports/condition.js";
import type { Stored } from "../../src/memory/ports/log.js";
import { withChanges } from "../../src/memory/ports/ports.js";
import { parseFilter } from "../../src/memory/requests/filter.js";
import { parseRecency, type Recency } from "../../src/memory/requests/recall-options.js";
import { RECENCY_CANDIDATES, recencyOf } from "../../src/memory/search/rank.js";
import type { Search } from "../../src/memory/search/search.js";
import { cloud } from "../index/vectors/clouds.js";
import { chanceOf } from "../support/chance.js";
import { DIMENSIONS, memoryOf, scopeOf, TestService, until } from "./domain.js";

const DAY_MS = 86_400_000;
const NOW_MS = Date.parse("2026-11-01T00:00:00Z");
const COUNT = 3_000;
const points = cloud(COUNT, { dimensions: DIMENSIONS });
const queries = cloud(6, { dimensions: DIMENSIONS, seed: 2 }).map(({ vector }) => vector);

/** Memories of ten years, some of them of days to come, and some with no time but when they were stored. */
function memoriesOf(seed: number): Stored[] {
  const chance = chanceOf(seed);
  return points.map((point) => {
    const eventAtMs = NOW_MS + 5 * DAY_MS - Math.floor(chance.next() * 3_650 * DAY_MS);
    return memoryOf(point, {
      createdAtMs: NOW_MS - chance.below(300) * DAY_MS,
      ...(chance.next() < 0.8 && { eventAtMs }),
      metadata: JSON.stringify({ group: point.sequence % 3 }),
      // Few enough that all of them are found by their words.
      text: point.sequence % 100 === 0 ? `sailing trip ${point.sequence}` : `note ${point.sequence}`,
    });
  });
}

const memories = memoriesOf(1);
const cosine = (a: Float32Array, b: Float32Array) => a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);

/** All memories with their exact scores and what their ages add, best first; each age is worked out anew. */
function bruteForce(query: Float32Array, { halfLifeMs, weight, referenceAtMs }: Recency) {
  const all = memories.map((memory, i) => {
    const score = Math.min(1, Math.max(0, cosine(query, points[i]?.vector as Float32Array)));
    const age = Math.max(0, referenceAtMs - (memory.eventAtMs ?? memory.createdAtMs));
    return { sequence: i + 1, score, recency: weight * 0.5 ** (age / halfLifeMs) };
  });
  return all.sort((a, b) => b.score + b.recency - a.score - a.recency || a.sequence - b.sequence);
}

const RECENCIES: readonly Recency[] = [0.02, 0.1, 0.5].flatMap((weight) =>
  [7, 365].map((days) => ({ halfLifeMs: days * DAY_MS, weight, referenceAtMs: NOW_MS })),
);

/** Numbers of the records that were read. */
const fetched: number[] = [];

async function openedWith(tailRowsMax: number) {
  const service = await TestService.open({ tailRowsMax });
  onTestFinished(() => service.close());
  const logId = await service.write("n", memories);
  const { log } = service.storage;
  const fetch: typeof log.fetch = (request) => {
    fetched.push(...request.sequences);
    return log.fetch(request);
  };
  const domain = service.domain({ log: withChanges(log, { fetch }) });
  const searching = <T>(work: (search: Search) => Promise<T>) =>
    domain.namespaces.using(scopeOf("n"), async ({ replica }) => {
      await replica.current();
      return replica.searching(work);
    }) as Promise<T>;
  const isSealed = () => service.hasSnapshot(logId);
  return { domain, searching, isSealed };
}

/** The best by score and age, as a recall has them. */
async function best(search: Search, query: Float32Array, recency: Recency, more: object = {}) {
  const options = { vectors: [query], wanted: 10, minScore: 0, recency, ...more };
  fetched.length = 0;
  const { ranked } = await search.best(options);
  expect(fetched.length).toBeLessThanOrEqual(RECENCY_CANDIDATES);
  return ranked;
}

const sequencesOf = (some: readonly { sequence: number }[]) => some.map(({ sequence }) => sequence);

describe("where a search is exact", () => {
  test("the best by score and age are those of all memories, also far from the nearest", async () => {
    const { searching } = await openedWith(COUNT);
    let farther = 0;
    for (const query of queries) {
      const nearest = new Set(
        sequencesOf(bruteForce(query, { ...(RECENCIES[0] as Recency), weight: 0 })).slice(0, 200),
      );
      for (const recency of RECENCIES) {
        const expected = bruteForce(query, recency).slice(0, 10);
        const found = await searching((search) => best(search, query, recency));
        expect(sequencesOf(found)).toEqual(sequencesOf(expected));
        for (const [i, { score, recency: added }] of found.entries()) {
          expect(score).toBeCloseTo(expected[i]?.score as number, 5);
          expect(added).toBeCloseTo(expected[i]?.recency as number, 9);
        }
        farther += expected.filter(({ sequence }) => !nearest.has(sequence)).length;
      }
    }
    // Otherwise the 200 nearest would have been enough, and nothing was tried.
    expect(farther).toBeGreaterThan(5);
  });

  test("a floor compares scores alone, and a filter and what is superseded hold as well", async () => {
    const { searching, domain } = await openedWith(COUNT + 1);
    const recency = RECENCIES.at(-1) as Recency;
    const [query] = queries as [Float32Array];
    const all = bruteForce(query, recency);
    const high = all.filter(({ score }) => score >= 0.6).slice(0, 10);
    expect(sequencesOf(high)).not.toEqual(sequencesOf(all.slice(0, 10)));
    const floored = await searching((search) => best(search, query, recency, { minScore: 0.6 }));
    expect(sequencesOf(floored)).toEqual(sequencesOf(high));
    const grouped = await searching(async (search) => {
      await search.select(parseFilter({ group: 1 }) as Filter);
      return best(search, query, recency);
    });
    const ofGroup = all.filter(({ sequence }) => sequence % 3 === 1);
    expect(sequencesOf(grouped)).toEqual(sequencesOf(ofGroup.slice(0, 10)));
    const supersedes = sequencesOf(all.slice(0, 4));
    const far = (points[(all.at(-1)?.sequence as number) - 1] as (typeof points)[0]).vector;
    const newer = memoryOf({ sequence: COUNT + 1, vector: far }, { supersedes, eventAtMs: 0 });
    await domain.append("n", newer);
    const withRecency = await searching((search) => best(search, query, recency));
    expect(sequencesOf(withRecency)).toEqual(sequencesOf(all.slice(4, 14)));
  });

  test("by meaning and words, too, age adds to the rank of all", async () => {
    const { searching } = await openedWith(COUNT);
    for (const query of queries) {
      for (const recency of RECENCIES) {
        const { placement, judged } = await searching(async (search) => {
          const wordMatches = search.matchWords("a sailing trip", RECENCY_CANDIDATES);
          const options = { vectors: [query], wanted: 10, wordMatches, recency };
          const all = memories.map((_, i) => i + 1);
          return { placement: await search.best(options), judged: await (await wordMatches).match(all) };
        });
        const ranked = bruteForce(query, recency).map(({ sequence, score, recency: added }) => {
          return { sequence, rank: score + placement.weight * (judged.get(sequence)?.share ?? 0) + added };
        });
        ranked.sort((a, b) => b.rank - a.rank || a.sequence - b.sequence);
        expect(sequencesOf(placement.ranked)).toEqual(sequencesOf(ranked.slice(0, 10)));
        for (const [i, { rank }] of placement.ranked.entries())
          expect(rank).toBeCloseTo(ranked[i]?.rank as number, 5);
      }
    }
  });
});

/** Time in which an index that nobody writes to comes to rest. */
const SETTLED_WITHIN = { timeout: 30_000, interval: 100 };

test("where it is not, age orders the 200 nearest", async () => {
  const { searching, domain, isSealed } = await openedWith(500);
  await searching(async () => {});
  await until(isSealed);
  const recency = RECENCIES.find(({ weight }) => weight === 0.5) as Recency;
  let others = 0;
  for (const query of queries) {
    // Rows are still being sealed and searches still widened, so two searches may see two states of the index.
    const found = await vi.waitFor(async () => {
      const byMeaning = { vectors: [query], wanted: 200, recency: { ...recency, weight: 0 } };
      const { ranked: nearest } = await searching((search) => search.best(byMeaning));
      const found = await searching((search) => best(search, query, recency));
      const ranked = nearest.map(({ sequence, score, entry }) => {
        return { sequence, rank: score + recencyOf(recency, entry.eventAtMs ?? entry.createdAtMs) };
      });
      ranked.sort((a, b) => b.rank - a.rank || a.sequence - b.sequence);
      expect(sequencesOf(found)).toEqual(sequencesOf(ranked.slice(0, 10)));
      return found;
    }, SETTLED_WITHIN);
    const all = new Set(sequencesOf(bruteForce(query, recency).slice(0, 10)));
    others += found.filter(({ sequence }) => !all.has(sequence)).length;
  }
  // Otherwise it would have looked at all memories.
  expect(others).toBeGreaterThan(0);
  expect(domain.troubles).toEqual([]);
});

describe("what an age adds", () => {
  const recency = { halfLifeMs: DAY_MS, weight: 0.4, referenceAtMs: NOW_MS };

  test.each([
    [0, 0.4],
    [1, 0.2],
    [2, 0.1],
    [-5, 0.4],
    [1e6, 0],
  ])("is, after %d half-lives, %d", (days, added) => {
    expect(recencyOf(recency, NOW_MS - days * DAY_MS)).toBeCloseTo(added, 12);
  });

  test.each([
    [{ halfLifeMs: undefined }, "recency.half_life"],
    [{ halfLifeMs: 0 }, "recency.half_life"],
    [{ halfLifeMs: -1 }, "recency.half_life"],
    [{ halfLifeMs: Number.NaN }, "recency.half_life"],
    [{ weight: undefined }, "recency.weight"],
    [{ weight: -0.1 }, "recency.weight"],
    [{ weight: 0.51 }, "recency.weight"],
    [{ weight: Number.NaN }, "recency.weight"],
    [{ referenceAtMs: 1e18 }, "recency.reference_time"],
  ])("is refused: %j", (wrong, field) => {
    const asked = { halfLifeMs: 1, weight: 0.1, referenceAtMs: undefined, ...wrong };
    expect(() => parseRecency(asked, NOW_MS)).toThrow(
      expect.objectContaining({ code: "invalid_argument", field }),
    );
  });

  test("counts from now, unless another time is given", () => {
    const asked = { halfLifeMs: 1, weight: 0.1, referenceAtMs: undefined };
    expect(parseRecency(asked, NOW_MS)).toEqual({ ...asked, referenceAtMs: NOW_MS });
    expect(parseRecency(undefined, NOW_MS)).toBeUndefined();
  });
});
