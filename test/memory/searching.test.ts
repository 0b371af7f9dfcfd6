import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Replica } from "../../src/memory/log/replica.js";
import { recall } from "../../src/memory/operations/recall.js";
import type { Filter } from "../../src/memory/ports/condition.js";
import type { Hit } from "../../src/memory/ports/index.js";
import type { Log, Stored } from "../../src/memory/ports/log.js";
import { withChanges } from "../../src/memory/ports/ports.js";
import { parseFilter } from "../../src/memory/requests/filter.js";
import type { RankedMemories } from "../../src/memory/search/rank.js";
import type { Search } from "../../src/memory/search/search.js";
import { cloud } from "../index/vectors/clouds.js";
import { CALLER, DIMENSIONS, type Domain, memoryOf, plainVectors, scopeOf, TestService } from "./domain.js";
import { hit } from "./plain-index.js";

const MEMORIES = 20;
const points = cloud(MEMORIES, { dimensions: DIMENSIONS });
const query = points[0]?.vector as Float32Array;
const nearest = { vectors: [query], wanted: 8 };
const inGroup = parseFilter({ group: 1 }) as Filter;

let service: TestService;
let domain: Domain;
let log: Log;
let logId: string;
/** Number of the log's last entry. */
let last: number;
/** Done before the next entries are fetched, and before all later ones. */
let beforeFetch: (sequences: readonly number[]) => Promise<void>;

beforeEach(async () => {
  service = await TestService.open();
  log = service.storage.log;
  logId = await service.write(
    "n",
    points.map((point) => memoryOf(point, { metadata: '{"group":1}', text: `word ${point.sequence}` })),
  );
  last = MEMORIES;
  beforeFetch = async () => {};
  const fetch: typeof log.fetch = async (request) => {
    await beforeFetch(request.sequences);
    return log.fetch(request);
  };
  domain = service.domain({
    log: withChanges(log, { fetch }),
  });
});
afterEach(() => service.close());

/** Replaces a memory from another process, as an update does. */
async function replace(target: number, given: Partial<Stored> = {}): Promise<void> {
  const changed = { metadata: '{"group":1}', text: "word new", ...given };
  const newer = memoryOf({ sequence: target, vector: query }, changed);
  await append({ ...newer, opId: `newer ${last + 1}`, replaces: target });
  await log.erase({ logId, sequences: [target] });
}

async function remove(target: number): Promise<void> {
  await append({ op: "delete", opId: `tombstone ${target}`, target });
  await log.erase({ logId, sequences: [target] });
}

async function append(entry: Parameters<Log["append"]>[0]["entries"][number]): Promise<void> {
  expect(await log.append({ logId, from: ++last, entries: [entry] })).toBe(1);
}

/** Searches; counts how often, and answers the numbers of what was found. */
async function search(work: (search: Search, replica: Replica) => Promise<RankedMemories>) {
  let searches = 0;
  const found = await domain.namespaces.using(scopeOf("n"), async ({ replica }) => {
    await replica.current();
    return replica.searching((search) => {
      searches++;
      return work(search, replica);
    });
  });
  return { searches, numbers: found?.ranked.map(({ sequence }) => sequence) ?? [] };
}

/** Makes something that is done the first time only. */
function firstCallOnly<A>(work: (request: A) => Promise<void>): (request: A) => Promise<void> {
  let isDone = false;
  return async (request) => {
    if (isDone) return;
    isDone = true;
    await work(request);
  };
}

describe("a memory that is replaced during a search", () => {
  it("is found in its new version, if it was before its entry was read", async () => {
    beforeFetch = firstCallOnly(() => replace(1));
    const { numbers, searches } = await search((search) => search.best(nearest));
    expect(numbers).toContain(21);
    expect(numbers).not.toContain(1);
    expect(searches).toBe(2);
  });

  it("is found with a filter", async () => {
    beforeFetch = firstCallOnly(() => replace(1));
    const { numbers } = await search(async (search) => {
      await search.select(inGroup);
      return search.best(nearest);
    });
    expect(numbers).toContain(21);
    expect(numbers.length).toBe(8);
  });

  it.each([
    ["is found with a filter, if it was between the selection and the search", 1, [21]],
    ["is not found with a filter that its new version does not match", 2, []],
  ])("%s", async (_, group, found) => {
    const change = async (replica: Replica) => {
      await replace(1, { metadata: JSON.stringify({ group }) });
      await replica.current();
    };
    const { numbers } = await search(async (search, replica) => {
      await search.select(inGroup);
      await change(replica);
      return search.best(nearest);
    });
    expect(numbers.filter((number) => number === 1 || number === 21)).toEqual(found);
  });

  it.each([
    ["", replace],
    [
      "; a delete came to the old one afterwards",
      (target: number) => replace(target).then(() => remove(target)),
    ],
  ])("is found though the index lost the old version before it had the new one%s", async (_, replaceIt) => {
    const hits = points.slice(1).map(({ sequence }) => hit(sequence));
    const { vectors } = plainVectors(() => ({
      search: async () => {
        await change(domain);
        return hits;
      },
    }));
    const change = firstCallOnly(async (domain: Domain) => {
      await replaceIt(1);
      await domain.namespaces.using(scopeOf("n"), ({ replica }) => replica.current());
    });
    domain = service.domain({ vectors });
    const { numbers } = await search((search) => search.best(nearest));
    expect(numbers).toContain(21);
  });

  it("is found by its new words, if it was between the search for words and that for meaning", async () => {
    const change = firstCallOnly(async (replica: Replica) => {
      await replace(20);
      await replica.current();
    });
    const shares: number[] = [];
    const { numbers } = await search(async (search, replica) => {
      const wordMatches = search.matchWords("word new");
      await wordMatches;
      await change(replica);
      const best = await search.best({ vectors: [query], wanted: MEMORIES, wordMatches });
      shares.push(best.ranked.find(({ sequence }) => sequence === 21)?.share ?? 0);
      return best;
    });
    expect(numbers).toContain(21);
    expect(numbers.length).toBe(MEMORIES);
    expect(shares.at(-1)).toBeGreaterThan(0);
  });

  it("is found though the vectors were searched before, and the words lost its old version meanwhile", async () => {
    const hits = points.slice(0, -1).map(({ sequence }) => hit(sequence));
    let haveSearched: () => void;
    const vectorsSearched = new Promise<void>((resolve) => {
      haveSearched = resolve;
    });
    const { vectors } = plainVectors(() => ({
      search: async () => {
        haveSearched();
        return hits;
      },
    }));
    domain = service.domain({ vectors });
    const change = firstCallOnly(async (replica: Replica) => {
      await vectorsSearched;
      await replace(20);
      await replica.current();
    });
    const { numbers } = await search(async (search, replica) => {
      const matchWords = async () => {
        await change(replica);
        return search.matchWords("word new");
      };
      return search.best({ vectors: [query], wanted: MEMORIES, wordMatches: matchWords() });
    });
    expect(numbers).toContain(21);
  });

  it("is found though other memories are replaced in five searches before", async () => {
    const targets = [1, 2, 3, 4, 5];
    beforeFetch = async () => {
      const target = targets.shift();
      if (target !== undefined) await replace(target);
    };
    const { numbers } = await search((search) => search.best({ ...nearest, wanted: 28 }));
    expect(numbers.length).toBe(MEMORIES);
    expect(numbers).toEqual(expect.arrayContaining([21, 22, 23, 24, 25]));
  });
});

it("a memory that is replaced while what superseded it is looked up is found in its new version", async () => {
  const { secondaryIndexes } = service.storage;
  // Their entries are not erased yet.
  const change = firstCallOnly(async (sequences: readonly number[]) => {
    const [replaced, removed] = sequences as [number, number];
    const changed = memoryOf({ sequence: replaced, vector: query }, {});
    await append({ ...changed, opId: "newer", replaces: replaced });
    await append({ op: "delete", opId: "tombstone", target: removed });
  });
  const findReplacements: typeof secondaryIndexes.findReplacements = async (asked) => {
    if (asked.sequences.length === 8) await change(asked.sequences);
    return secondaryIndexes.findReplacements(asked);
  };
  domain = service.domain({ secondaryIndexes: withChanges(secondaryIndexes, { findReplacements }) });
  await append(memoryOf({ sequence: last + 1, vector: query }, { supersedes: [20] }));
  const asked = { caller: CALLER, namespace: "n", query: "word", topK: MEMORIES, includeSuperseded: true };
  const { results } = await recall(domain.ports, { ...asked, topK: 8 });
  expect(results).toHaveLength(8);
  const all = await recall(domain.ports, asked);
  expect(all.results.find(({ entry }) => entry.id === "mem_20")?.supersededBy).toBe(`mem_${MEMORIES + 1}`);
});

it("what superseded several memories during a selection is selected once", async () => {
  const current = () => domain.namespaces.using(scopeOf("n"), ({ replica }) => replica.current());
  const change = firstCallOnly(async () => {
    const given = { metadata: '{"group":1}', supersedes: [1, 2] };
    await append(memoryOf({ sequence: last + 1, vector: query }, given));
    await current();
  });
  const { indexes } = service;
  const select: typeof indexes.select = async (...asked) => {
    const selected = await indexes.select(...asked);
    await change(undefined);
    return selected;
  };
  domain = service.domain({ indexes: withChanges(indexes, { select }) });
  await current();
  const selected = await domain.namespaces.using(scopeOf("n"), ({ replica }) =>
    replica.searching((search) => search.select(inGroup)),
  );
  expect([...(selected?.sequences ?? [])].filter((sequence) => sequence > MEMORIES)).toEqual([21]);
  expect(selected?.size).toBe(selected?.sequences.length);
});

it.each([
  ["is not selected", { $id: { $ne: "mem_1" } }, MEMORIES - 1, false],
  ["is selected once", { $id: "mem_1" }, 1, true],
])(
  "the new version of a memory that was replaced when its id had been looked up %s by a filter of its id",
  async (_, filter, size, isSelected) => {
    const current = () => domain.namespaces.using(scopeOf("n"), ({ replica }) => replica.current());
    const change = firstCallOnly(async (_: unknown) => {
      for (const target of [1, MEMORIES + 1]) await replace(target, { id: "mem_1" });
      await current();
    });
    const { indexes } = service;
    const select: typeof indexes.select = async (...asked) => {
      await change(undefined);
      return indexes.select(...asked);
    };
    domain = service.domain({ indexes: withChanges(indexes, { select }) });
    await current();
    const selected = await domain.namespaces.using(scopeOf("n"), ({ replica }) =>
      replica.searching((search) => search.select(parseFilter(filter) as Filter)),
    );
    expect(selected?.size).toBe(size);
    expect(selected?.has(MEMORIES + 2)).toBe(isSelected);
  },
);

it("a search during which more is deleted than it notes is done again", async () => {
  const change = firstCallOnly(async (replica: Replica) => {
    const tombstones = Array.from({ length: 1_001 }, (_, i) => {
      return { op: "delete", opId: `tombstone ${i}`, target: 1_000 + i } as const;
    });
    expect(await log.append({ logId, from: last + 1, entries: tombstones })).toBe(1_001);
    await replica.current();
  });
  const { searches } = await search(async (search, replica) => {
    await change(replica);
    return search.best(nearest);
  });
  expect(searches).toBe(2);
});

describe("a search in which others change something every time", () => {
  it("says so rather than leave a memory out", async () => {
    beforeFetch = ([found]) => replace(found as number);
    await expect(search((search) => search.best(nearest))).rejects.toMatchObject({
      code: "unavailable",
      message: "memories of this namespace are replaced faster than they are found; try again",
    });
  });

  it("answers what is left when others delete what it finds", async () => {
    beforeFetch = ([found]) => remove(found as number);
    const { numbers, searches } = await search((search) => search.best({ ...nearest, wanted: 3 }));
    expect(numbers.length).toBeGreaterThanOrEqual(3);
    expect(searches).toBe(10);
  });

  it("does not wait for a damaged memory, whatever others write", async () => {
    await log.erase({ logId, sequences: [1] });
    beforeFetch = () => append(memoryOf({ sequence: last + 1, vector: query }));
    const { searches } = await search((search) => search.best(nearest));
    expect(searches).toBe(1);
  });
});

it("does not leave the last of many results to the rounding of an index, also if words count", async () => {
  const at = (cosine: number) => {
    const vector = new Float32Array(DIMENSIONS);
    vector.set([cosine, Math.sqrt(1 - cosine ** 2)]);
    return vector;
  };
  const cosines = Array.from({ length: 70 }, (_, i) => 0.99 - i / 100);
  await service.write(
    "many",
    cosines.map((cosine, i) => memoryOf({ sequence: i + 1, vector: at(cosine) })),
  );
  const hits = cosines.map((similarity, i) => ({ ...hit(i + 1), similarity }));
  // The last that is wanted and the one behind it have changed places.
  const rounded = hits.with(49, hits[50] as Hit).with(50, hits[49] as Hit);
  const { vectors } = plainVectors(() => ({
    error: 0.1,
    search: async ({ limit }) => rounded.slice(0, limit),
  }));
  const other = service.domain({ vectors });
  const found = await other.namespaces.using(scopeOf("many"), async ({ replica }) => {
    await replica.current();
    return replica.searching((search) => {
      const wordMatches = search.matchWords("nothing");
      return search.best({ vectors: [at(1)], wanted: 50, wordMatches });
    });
  });
  const numbers = found?.ranked.map(({ sequence }) => sequence);
  expect(numbers).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
});
