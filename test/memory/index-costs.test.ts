import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { recall } from "../../src/memory/operations/recall.js";
import type { Filter } from "../../src/memory/ports/condition.js";
import { withChanges } from "../../src/memory/ports/ports.js";
import { parseFilter } from "../../src/memory/requests/filter.js";
import type { JsonObject } from "../../src/memory/requests/metadata.js";
import { cloud, type Point } from "../index/vectors/clouds.js";
import { CALLER, DIMENSIONS, type Domain, memoryOf, scopeOf, TestService } from "./domain.js";

// What once kept the main thread busy for ever, took gigabytes, or hid the memory that lives.

setFlagsFromString("--expose-gc");

let service: TestService;
beforeEach(async () => {
  service = await TestService.open({ tailRowsMax: Number.MAX_SAFE_INTEGER });
});
afterEach(() => service.close());

/** Makes metadata of 16 KB, whose keys nobody else has. */
function distinctKeys(i: number): JsonObject {
  const entries = Array.from({ length: 1_700 }, (_, k) => [(i * 2_000 + k).toString(36), 1] as const);
  return Object.fromEntries(entries);
}

function selected(
  domain: Domain,
  filter: JsonObject,
  includeSuperseded = false,
): Promise<number[] | undefined> {
  const parsed = parseFilter(filter) as Filter;
  return domain.namespaces.using(scopeOf("n"), async ({ replica }) => {
    await replica.current();
    const selection = await replica.searching((search) => search.select(parsed), { includeSuperseded });
    return [...selection.sequences];
  });
}

it("many namespaces of one memory each take no more than is counted", async () => {
  const gc = runInNewContext("gc") as () => void;
  const held = () => {
    gc();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const [point] = cloud(1, { dimensions: DIMENSIONS }) as [Point];
  const names = Array.from({ length: 300 }, (_, i) => `n${i}`);
  for (const name of names) await service.write(name, [memoryOf(point, {})]);
  const { namespaces } = service.domain();
  const openAll = async (some: readonly string[]) => {
    for (const name of some) await namespaces.using(scopeOf(name), ({ replica }) => replica.current());
    return { held: held(), counted: namespaces.open.measure().bytes };
  };
  // What the first ones load stays for all.
  const before = await openAll(names.slice(0, 100));
  const after = await openAll(names);
  expect(after.held - before.held).toBeLessThan(1.5 * (after.counted - before.counted));
});

describe("100,000 distinct metadata keys", () => {
  const points = cloud(61, { dimensions: DIMENSIONS });

  it("leave the process idle after one delete and one filter, and take little memory", async () => {
    const logId = await service.write(
      "n",
      points.map((point) => memoryOf(point, { metadata: JSON.stringify(distinctKeys(point.sequence)) })),
    );
    const domain = service.domain();
    expect(await selected(domain, { [(5 * 2_000 + 7).toString(36)]: 1 })).toEqual([5]);
    const tombstone = { op: "delete", opId: "gone", target: 5 } as const;
    await service.storage.log.append({ logId, from: 62, entries: [tombstone] });
    expect(await selected(domain, { [(5 * 2_000 + 7).toString(36)]: 1 })).toEqual([]);
    expect(domain.namespaces.open.measure().bytes).toBeLessThan(61 * 1_700 * 60);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const before = process.cpuUsage();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(300);
  });
});

describe("4,000 superseded versions of one fact", () => {
  const VERSIONS = 4_000;
  const fact = cloud(1, { dimensions: DIMENSIONS, seed: 5 })[0]?.vector as Float32Array;
  const others = cloud(500, { dimensions: DIMENSIONS, seed: 6 });
  let fetched: number;
  let domain: Domain;

  beforeEach(async () => {
    const versions = Array.from({ length: VERSIONS }, (_, i) =>
      memoryOf({ sequence: 501 + i, vector: fact } as Point, {
        text: `the fact, version ${i}`,
        ...(i > 0 && { supersedes: [500 + i] }),
      }),
    );
    await service.write("n", [...others.map((each) => memoryOf(each)), ...versions]);
    const { log } = service.storage;
    fetched = 0;
    const fetch: typeof log.fetch = async (request) => {
      const found = await log.fetch(request);
      fetched += found.found.length;
      return found;
    };
    domain = service.domain({ log: withChanges(log, { fetch }) });
    await domain.recall("n", fact);
  });

  it("do not hide the one that lives, and cost a recall nothing", async () => {
    fetched = 0;
    expect((await domain.recall("n", fact))?.[0]).toBe(`mem_${500 + VERSIONS}`);
    expect(fetched).toBeLessThanOrEqual(13);
    const found = await domain.namespaces.using(scopeOf("n"), ({ replica }) =>
      replica.searching((search) => search.matchWords("the fact, version")),
    );
    expect(found?.matches).toEqual([500 + VERSIONS]);
    expect((await selected(domain, { $created_at: { $exists: true } }))?.length).toBe(501);
  });

  it("are not read to count what an empty recall has left out", async () => {
    const ports = { ...domain.ports, idempotency: undefined as never };
    const asked = { caller: CALLER, namespace: "n", query: "the fact", filter: { nobody: "has this" } };
    fetched = 0;
    expect(await recall(ports, asked)).toMatchObject({ results: [], considered: 501 });
    expect(fetched).toBe(0);
    const all = await recall(ports, { ...asked, includeSuperseded: true });
    expect(all).toMatchObject({ results: [], considered: 500 + VERSIONS });
    // Their index is built once.
    expect(fetched).toBeLessThan(VERSIONS);
  });

  it("are all found by who asks for them, also what is superseded or deleted afterwards", async () => {
    const all = async () => (await selected(domain, { $created_at: { $exists: true } }, true)) ?? [];
    expect(await all()).toHaveLength(500 + VERSIONS);
    await domain.append(
      "n",
      memoryOf({ sequence: 9_001, vector: fact } as Point, { supersedes: [7, 500 + VERSIONS] }),
    );
    const last = 500 + VERSIONS + 1;
    expect(await all()).toHaveLength(last);
    expect(await selected(domain, { $created_at: { $exists: true } })).toHaveLength(500);
    const tombstone = { op: "delete", opId: "gone", target: 700 } as const;
    await domain.namespaces.ifOpen(scopeOf("n"), ({ appender }) => appender.append(tombstone));
    const then = await all();
    expect(then).toHaveLength(last - 1);
    expect(then).toEqual(then.toSorted((a, b) => a - b));
    expect(then).not.toContain(700);
    const both = await domain.namespaces.using(scopeOf("n"), ({ replica }) =>
      replica.searching(
        async (search) => {
          const { ranked: near } = await search.best({ vectors: [fact], wanted: 20 });
          const { matches } = await search.matchWords("version 100");
          return { near: near.map(({ score }) => score), matches };
        },
        { includeSuperseded: true },
      ),
    );
    expect(both?.near.every((score) => score > 0.999)).toBe(true);
    expect(both?.matches[0]).toBe(601);
  });
});
