import { afterEach, beforeEach, expect, it } from "vitest";
import { MemoryError } from "../../src/errors.js";
import { getMemories } from "../../src/memory/operations/get-memories.js";
import { updateMemories } from "../../src/memory/operations/update-memories.js";
import { withChanges } from "../../src/memory/ports/ports.js";
import { parseRemoved, without } from "../../src/memory/requests/filter-path.js";
import { newMemoryId } from "../../src/memory/requests/id.js";
import { aMemory, memoriesOf } from "../contract/samples.js";
import { CALLER, DIMENSIONS, type Domain, scopeOf, TestService } from "./domain.js";

let service: TestService;
let domain: Domain;
const ids = Array.from({ length: 40 }, newMemoryId);
const vectors = new Float32Array(DIMENSIONS).fill(0.25);
const base = { caller: CALLER, namespace: "n", ids: [], remove: [], pageToken: "" };
const request = { ...base, filter: { kind: "own" }, metadata: { done: true } };

beforeEach(async () => {
  service = await TestService.open();
  await service.write(
    "n",
    ids.map((id) => aMemory({ id, vectors, metadata: '{"kind":"own"}' })),
  );
  domain = service.domain();
});
afterEach(() => service.close());

const metadataOf = async (id: string) => {
  const { log, names, secondaryIndexes } = service.storage;
  const logId = (await names.find(scopeOf("n"))) ?? "";
  const sequence = (await secondaryIndexes.locate({ logId, id })) ?? 0;
  const [found] = (await log.fetch({ logId, sequences: [sequence], projection: "text" })).found;
  return found?.entry.metadata;
};

it("tells how far it came when the key's rate is used up, and goes on from there", async () => {
  let left = 10;
  const onFreeWrite = () => {
    if (left-- <= 0) throw new MemoryError("resource_exhausted", "the rate is used up");
  };
  const first = await updateMemories(domain.ports, { ...request, onFreeWrite });
  expect(first.updated).toBe(10);
  const { nextPageToken: pageToken } = first;
  await expect(updateMemories(domain.ports, { ...request, pageToken, onFreeWrite })).rejects.toThrow(
    "rate is used up",
  );
  const rest = await updateMemories(domain.ports, { ...request, pageToken });
  expect(rest.updated).toBe(30);
  for (const id of ids) expect(await metadataOf(id)).toBe('{"kind":"own","done":true}');
});

it("handles secrets in the metadata as the server is set to", async () => {
  const metadata = { card: "4111 1111 1111 1111" };
  const refusing = updateMemories({ ...domain.ports, onSecret: "refuse" }, { ...request, metadata });
  await expect(refusing).rejects.toMatchObject({ code: "invalid_argument", reason: "SECRET_FOUND" });
  const asked = { ...request, filter: undefined, ids: ids.slice(0, 1), metadata };
  await updateMemories({ ...domain.ports, onSecret: "redact" }, asked);
  expect(await metadataOf(ids[0] as string)).toBe('{"kind":"own","card":"[REDACTED]"}');
  await updateMemories(domain.ports, asked);
  expect(await metadataOf(ids[0] as string)).toBe('{"kind":"own","card":"4111 1111 1111 1111"}');
});

it("leaves alone what another call has changed so that it does not match any more", async () => {
  const { log, names, secondaryIndexes } = service.storage;
  const logId = (await names.find(scopeOf("n"))) ?? "";
  const [first = "", second = ""] = ids;
  const common = { opId: newMemoryId(), vectors, text: "t" };
  const versions = [
    { ...aMemory({ ...common, id: first, metadata: '{"kind":"other"}' }), replaces: 1 },
    {
      ...aMemory({ ...common, opId: newMemoryId(), id: second, metadata: '{"kind":"own","n":1}' }),
      replaces: 2,
    },
  ];
  let calls = 0;
  // The first version is made between the reading and the writing.
  const racing = {
    ...domain.ports,
    secondaryIndexes: withChanges(secondaryIndexes, {
      findReplacements: async (sequences) => {
        const replacements = await secondaryIndexes.findReplacements(sequences);
        if (calls++ === 0) await log.append({ logId, from: ids.length + 1, entries: versions });
        return replacements;
      },
    }),
  };
  let pageToken = "";
  do {
    ({ nextPageToken: pageToken } = await updateMemories(racing, { ...request, pageToken }));
  } while (pageToken !== "");
  expect(calls).toBeGreaterThan(0);
  expect(await metadataOf(first)).toBe('{"kind":"other"}');
  expect(await metadataOf(second)).toBe('{"kind":"own","n":1,"done":true}');
});

it("finds the memories with its ids in the copy of a log that moves meanwhile", async () => {
  const { log, names, secondaryIndexes } = service.storage;
  const logId = (await names.find(scopeOf("n"))) ?? "";
  const sequences = ids.map((_, i) => i + 1);
  const move = async () => {
    const sequenced = await memoriesOf(log, { logId, sequences });
    const entries = sequenced.toSorted((a, b) => a.sequence - b.sequence).map(({ entry }) => entry);
    await log.append({ logId: `${logId}x1`, from: 1, entries });
    await names.rename(scopeOf("n"), { from: logId, to: `${logId}x1` });
    await log.erase({ logId, sequences });
  };
  let calls = 0;
  const moving = {
    ...domain.ports,
    secondaryIndexes: withChanges(secondaryIndexes, {
      findReplacements: async (sought) => {
        if (calls++ === 0) await move();
        return secondaryIndexes.findReplacements(sought);
      },
    }),
  };
  const { filter: _, ...byIds } = { ...request, ids, metadata: { kind: "own" } };
  expect(await updateMemories(moving, byIds)).toMatchObject({
    updated: 0,
    unchanged: ids.length,
    failed: [],
  });
});

it("finds memories by their ids in the log that its namespace has after others of them were looked for", async () => {
  const { log, names, secondaryIndexes } = service.storage;
  const logId = (await names.find(scopeOf("n"))) ?? "";
  const sequences = ids.map((_, i) => i + 1);
  let looks = 0;
  const moving = {
    ...domain.ports,
    secondaryIndexes: withChanges(secondaryIndexes, {
      locate: async (sought) => {
        if (++looks === 4) {
          const sequenced = await memoriesOf(log, { logId, sequences });
          const entries = sequenced.toSorted((a, b) => a.sequence - b.sequence).map(({ entry }) => entry);
          await log.append({ logId: `${logId}x1`, from: 1, entries });
          await names.rename(scopeOf("n"), { from: logId, to: `${logId}x1` });
          await log.erase({ logId, sequences });
        }
        return secondaryIndexes.locate(sought);
      },
    }),
  };
  const { memories, missing } = await getMemories(moving, { caller: CALLER, namespace: "n", ids });
  expect(memories.map(({ id }) => id)).toEqual(ids);
  expect(missing).toEqual([]);
});

it("removes paths through objects alone, also of odd keys", () => {
  const metadata = JSON.parse('{"a":{"b":1,"c":{"d":2}},"l":[{"b":1}],"x.y":1,"__proto__":{"b":3},"$id":4}');
  const paths = ["a.b", "a.c.d.e", "l.b", "x\\.y", "__proto__.b", "\\$id", "none"];
  expect(JSON.stringify(without(metadata, parseRemoved(paths)))).toBe(
    '{"a":{"c":{"d":2}},"l":[{"b":1}],"__proto__":{}}',
  );
});

/** As many keys as metadata can have. */
const manyKeys = () =>
  JSON.stringify(Object.fromEntries(Array.from({ length: 1_600 }, (_, i) => [`k${i}`, 0])));

it("removes many paths in about the time of one", () => {
  const metadata = JSON.parse(manyKeys());
  const timeOf = (paths: string[]) => {
    const parsed = parseRemoved(paths);
    const times = Array.from({ length: 5 }, () => {
      const startMs = performance.now();
      without(metadata, parsed);
      return performance.now() - startMs;
    });
    return Math.min(...times);
  };
  timeOf(["a"]);
  expect(timeOf(Array.from({ length: 256 }, (_, i) => `a${i}`)) / timeOf(["a"])).toBeLessThan(20);
});

it("lets other work run between memories of many keys, also those that are unchanged", async () => {
  const large = ids.map(() => newMemoryId());
  await service.write(
    "large",
    large.map((id) => aMemory({ id, vectors, metadata: manyKeys() })),
  );
  const startMs = performance.now();
  let [longestMs, lastMs, isOver] = [0, startMs, false];
  const onIteration = () => {
    longestMs = Math.max(longestMs, performance.now() - lastMs);
    lastMs = performance.now();
    if (!isOver) setImmediate(onIteration);
  };
  setImmediate(onIteration);
  const asked = { ...base, namespace: "large", ids: large, remove: ["a"] };
  expect(await updateMemories(domain.ports, asked)).toMatchObject({ updated: 0, unchanged: large.length });
  isOver = true;
  const endMs = performance.now();
  expect(Math.max(longestMs, endMs - lastMs) / (endMs - startMs)).toBeLessThan(0.5);
});

it("fails of ids those that were superseded, also if they have the metadata already", async () => {
  const [id] = ids;
  const next = { ...aMemory({ vectors }), supersedes: [1] };
  const { log, names } = service.storage;
  await log.append({ logId: (await names.find(scopeOf("n"))) ?? "", from: ids.length + 1, entries: [next] });
  const asked = { ...request, filter: undefined, ids: ids.slice(0, 2) };
  const failed = [{ id, error: { reason: "MEMORY_SUPERSEDED" } }];
  expect(await updateMemories(domain.ports, asked)).toMatchObject({ updated: 1, unchanged: 0, failed });
  const again = { ...asked, metadata: { kind: "own" } };
  expect(await updateMemories(domain.ports, again)).toMatchObject({ updated: 0, unchanged: 1, failed });
});
