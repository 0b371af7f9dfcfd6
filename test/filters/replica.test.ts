import { afterEach, beforeEach, expect, test } from "vitest";
import type { Filter } from "../../src/memory/ports/condition.js";
import { parseFilter } from "../../src/memory/requests/filter.js";
import type { JsonObject } from "../../src/memory/requests/metadata.js";
import { cloud } from "../index/vectors/clouds.js";
import { DIMENSIONS, type Domain, memoryOf, scopeOf, TestService } from "../memory/domain.js";

const points = cloud(600, { dimensions: DIMENSIONS });
const query = cloud(1, { dimensions: DIMENSIONS, seed: 2 })[0]?.vector as Float32Array;

let service: TestService;
let domain: Domain;
beforeEach(async () => {
  service = await TestService.open();
  await service.write(
    "n",
    points.map((point) =>
      memoryOf(point, {
        metadata: JSON.stringify({ group: point.sequence % 10 }),
        text: `word ${point.sequence}`,
      }),
    ),
  );
  domain = service.domain();
});
afterEach(() => service.close());

const filterOf = (filter: JsonObject) => parseFilter(filter) as Filter;

/** Recalls among what matches a filter; returns the memories' numbers. */
function recall(filter: JsonObject) {
  return domain.namespaces.using(scopeOf("n"), async ({ replica }) => {
    await replica.current();
    return replica.searching(async (search) => {
      const among = await search.select(filterOf(filter));
      const { ranked } = await search.best({ vectors: [query], wanted: 8 });
      const wordMatches = await search.matchWords("word");
      return {
        found: ranked.map(({ sequence }) => sequence),
        matches: wordMatches.matches,
        size: among.size,
      };
    });
  });
}

test("nearness and words are found among the same memories, also after stores and deletes", async () => {
  const all = await recall({ group: 3 });
  expect(all?.size).toBe(60);
  expect(all?.found.length).toBe(8);
  for (const sequence of [...(all?.found ?? []), ...(all?.matches ?? [])]) expect(sequence % 10).toBe(3);
  expect(all?.matches.length).toBe(50);
  const fresh = { sequence: 601, vector: query };
  await domain.append("n", memoryOf(fresh, { metadata: '{"group":3}', text: "a new word" }));
  const then = await recall({ group: 3, $id: "mem_601" });
  expect(then).toMatchObject({ found: [601], matches: [601], size: 1 });
  expect((await recall({ group: 99 }))?.found).toEqual([]);
  expect((await recall({ group: 99 }))?.matches).toEqual([]);
});

test("a replica of another process sees what this one stored and deleted", async () => {
  const other = service.domain();
  const count = () =>
    other.namespaces.using(scopeOf("n"), async ({ replica }) => {
      await replica.current();
      return (await replica.searching((search) => search.select(filterOf({ group: 3 })))).size;
    });
  expect(await count()).toBe(60);
  await domain.append("n", memoryOf({ sequence: 601, vector: query }, { metadata: '{"group":3}' }));
  expect(await count()).toBe(61);
  const logId = (await service.storage.names.find(scopeOf("n"))) as string;
  const tombstone = { op: "delete", opId: "gone", target: 3 } as const;
  expect(await service.storage.log.append({ logId, from: 602, entries: [tombstone] })).toBe(1);
  expect(await count()).toBe(60);
});
