import { afterEach, beforeEach, expect, test } from "vitest";
import type { Filter } from "../../src/memory/filter/condition.js";
import { parseFilter } from "../../src/memory/filter/parse.js";
import type { JsonObject } from "../../src/memory/input/metadata.js";
import type { Log } from "../../src/memory/ports/log.js";
import { DIMENSIONS, House, memoryOf, type Room, scopeOf } from "../memory/room.js";
import { cloud } from "../vectors/clouds.js";

const points = cloud(600, { dimensions: DIMENSIONS });
const query = cloud(1, { dimensions: DIMENSIONS, seed: 2 })[0]?.vector as Float32Array;

let house: House;
let room: Room;
beforeEach(async () => {
  house = await House.open();
  await house.write(
    "n",
    points.map((point) =>
      memoryOf(point, {
        metadata: JSON.stringify({ group: point.sequence % 10 }),
        text: `word ${point.sequence}`,
      }),
    ),
  );
  room = house.room();
});
afterEach(() => house.close());

const filterOf = (filter: JsonObject) => parseFilter(filter) as Filter;

/** Recalls among what matches a filter; answers the memories' numbers, and the bytes of the replica. */
function recall(filter: JsonObject) {
  return room.namespaces.reading(scopeOf("n"), async ({ replica }) => {
    await replica.current();
    const before = replica.bytes;
    const among = await replica.select(filterOf(filter));
    const bytes = { before, after: replica.bytes };
    const found = await replica.nearest({ vectors: [query], limit: 8, among });
    const hearing = await replica.hear({ text: "word", among });
    return { found: found.map(({ sequence }) => sequence), heard: hearing.heard, bytes, size: among.size };
  });
}

test("a namespace that is filtered has an index of fields, counted in its bytes, and others have none", async () => {
  const first = await recall({ group: 3 });
  expect(first?.bytes.after).toBeGreaterThan((first?.bytes.before ?? 0) + 600 * 20);
  const second = await recall({ group: 3 });
  expect(second?.bytes.after).toBe(second?.bytes.before);
});

test("nearness and words are found among the same memories, also after stores and deletes", async () => {
  const all = await recall({ group: 3 });
  expect(all?.size).toBe(60);
  expect(all?.found.length).toBe(8);
  for (const sequence of [...(all?.found ?? []), ...(all?.heard ?? [])]) expect(sequence % 10).toBe(3);
  expect(all?.heard.length).toBe(50);
  const fresh = { sequence: 601, vector: query };
  await room.append("n", memoryOf(fresh, { metadata: '{"group":3}', text: "a new word" }));
  const then = await recall({ group: 3, $id: "mem_601" });
  expect(then).toMatchObject({ found: [601], heard: [601], size: 1 });
  expect((await recall({ group: 99 }))?.found).toEqual([]);
  expect((await recall({ group: 99 }))?.heard).toEqual([]);
});

test("a replica of another process sees what this one stored and deleted", async () => {
  const other = house.room();
  const count = () =>
    other.namespaces.reading(scopeOf("n"), async ({ replica }) => {
      await replica.current();
      return (await replica.select(filterOf({ group: 3 }))).size;
    });
  expect(await count()).toBe(60);
  await room.append("n", memoryOf({ sequence: 601, vector: query }, { metadata: '{"group":3}' }));
  expect(await count()).toBe(61);
  const logId = (await house.storage.log.find(scopeOf("n"))) as string;
  const tombstone = { op: "delete", opId: "gone", target: 3 } as const;
  expect(await house.storage.log.append({ logId, from: 602, entries: [tombstone] })).toBe(1);
  expect(await count()).toBe(60);
});

test("a memory that is updated during a recall with a filter is found in its new version", async () => {
  const { log } = house.storage;
  const logId = (await log.find(scopeOf("n"))) as string;
  let update: (() => Promise<void>) | undefined;
  const fetch: typeof log.fetch = async (of) => {
    const [once] = [update];
    update = undefined;
    await once?.();
    return log.fetch(of);
  };
  const busy = house.room({ log: changed(log, { fetch }) });
  const found = await busy.namespaces.reading(scopeOf("n"), async ({ replica }) => {
    await replica.current();
    const reselect = () => replica.select(filterOf({ group: 3 }));
    const among = await reselect();
    const first = await replica.nearest({ vectors: [query], limit: 8, among });
    const target = first[0]?.sequence as number;
    update = async () => {
      const newer = memoryOf({ sequence: target, vector: query }, { metadata: '{"group":3}' });
      await log.append({ logId, from: 601, entries: [{ ...newer, opId: "newer", replaces: target }] });
      await log.erase({ logId, sequences: [target] });
    };
    return {
      target,
      again: await replica.nearest({ vectors: [query], limit: 8, wanted: 8, among, reselect }),
    };
  });
  const numbers = found?.again.map(({ sequence }) => sequence);
  expect(numbers).toContain(601);
  expect(numbers).not.toContain(found?.target);
  expect(numbers?.length).toBe(8);
});

/** Makes a log that has some methods of its own. */
function changed(log: Log, own: Partial<Log>): Log {
  return new Proxy(log, {
    get: (target, name) => {
      const method = own[name as keyof Log] ?? target[name as keyof Log];
      return typeof method === "function" ? method.bind(target) : method;
    },
  });
}
