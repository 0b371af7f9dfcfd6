import { afterEach, beforeEach, expect, it } from "vitest";
import type { Clock } from "../../src/concurrency/clock.js";
import { systemClock } from "../../src/concurrency/clock.js";
import { unavailable } from "../../src/errors.js";
import { deleteMemories } from "../../src/memory/operations/delete-memories.js";
import { deleteMemory } from "../../src/memory/operations/delete-memory.js";
import { withChanges } from "../../src/memory/ports/ports.js";
import { newMemoryId } from "../../src/memory/requests/id.js";
import { aMemory } from "../contract/samples.js";
import { CALLER, DIMENSIONS, type Domain, TestService } from "./domain.js";

let service: TestService;
let domain: Domain;
let nowMs = 0;
const clock: Clock = { ...systemClock, nowMs: () => nowMs };
const ids = Array.from({ length: 40 }, newMemoryId);
const request = { caller: CALLER, namespace: "n", ids };

const vectors = new Float32Array(DIMENSIONS).fill(0.25);

beforeEach(async () => {
  nowMs = 0;
  service = await TestService.open({ clock });
  await service.write(
    "n",
    ids.map((id) => aMemory({ id, vectors })),
  );
  domain = service.domain();
});
afterEach(() => service.close());

const left = async () => {
  const logId = (await service.storage.names.find({ accountId: CALLER.accountId, namespace: "n" })) ?? "";
  return (await service.storage.log.measure({ logId })).memories;
};

/** Ports that erase entries as told. */
function erasing(begin: (nth: number) => void) {
  const { log } = domain.ports;
  let nth = 0;
  const erase: typeof log.erase = async (request) => {
    begin(++nth);
    return log.erase(request);
  };
  return { ...domain.ports, log: withChanges(log, { erase }) };
}

/** Ports that do something before the first tombstone. */
function burying(before: () => Promise<unknown>) {
  const { names } = domain.ports;
  let finds = 0;
  const find: typeof names.find = async (scope) => {
    if (finds++ === 0) await before();
    return names.find(scope);
  };
  return { ...domain.ports, names: withChanges(names, { find }) };
}

it("begins no erasure when time is over, and says that more is left", async () => {
  const slow = erasing((nth) => {
    if (nth === 10) nowMs += 16_000;
  });
  const { deleted, more } = await deleteMemories(slow, request);
  expect(more).toBe(true);
  expect(deleted).toBeGreaterThanOrEqual(10);
  expect(deleted).toBeLessThan(20);
  expect(await left()).toBe(ids.length - deleted);
  expect(await deleteMemories(domain.ports, request)).toEqual({ deleted: ids.length - deleted, more: false });
});

it("ends with the error of the database, and finishes what it began", async () => {
  const failing = erasing((nth) => {
    if (nth > 5) throw unavailable("the database is away");
  });
  await expect(deleteMemories(failing, request)).rejects.toThrow("the database is away");
  expect(await left()).toBe(ids.length - 5);
});

it("begins no other erasure once the caller has gone", async () => {
  const gone = new AbortController();
  const leaving = erasing(() => gone.abort(new Error("gone")));
  const { signal } = gone;
  await expect(deleteMemories(leaving, { ...request, signal })).rejects.toThrow("gone");
  expect(await left()).toBeGreaterThan(ids.length - 20);
});

it("deletes by a filter what others update meanwhile, unless it does not match any more", async () => {
  const { log, names, secondaryIndexes } = service.storage;
  const scope = { accountId: CALLER.accountId, namespace: "n" };
  const logId = (await names.find(scope)) ?? "";
  const own = ["a", "b"].map((n) => aMemory({ vectors, metadata: JSON.stringify({ n, kind: "own" }) }));
  await log.append({ logId, from: ids.length + 1, entries: own });
  const [a, b] = own as [(typeof own)[0], (typeof own)[0]];
  const [atA, atB] = [ids.length + 1, ids.length + 2];
  const versions = [
    { ...aMemory({ id: a.id, vectors, metadata: '{"kind":"own","n":"c"}' }), replaces: atA },
    { ...aMemory({ id: b.id, vectors, metadata: '{"kind":"other"}' }), replaces: atB },
  ];
  const updating = burying(() => log.append({ logId, from: ids.length + 3, entries: versions }));
  const deleting = { caller: CALLER, namespace: "n", ids: [], filter: { kind: "own" } };
  expect(await deleteMemories(updating, deleting)).toMatchObject({ deleted: 1, more: false });
  expect(await secondaryIndexes.locate({ logId, id: a.id })).toBeUndefined();
  const [left] = (await log.fetch({ logId, sequences: [ids.length + 4], projection: "text" })).found;
  expect(left?.entry).toMatchObject({ id: b.id, metadata: '{"kind":"other"}' });
});

it("says that more is left by a filter where another makes a new version before it is read", async () => {
  const { log, names } = service.storage;
  const logId = (await names.find({ accountId: CALLER.accountId, namespace: "n" })) ?? "";
  const id = ids.at(-1) as string;
  const entries = [{ ...aMemory({ id, vectors }), replaces: ids.length }];
  const updating = burying(() => log.append({ logId, from: ids.length + 1, entries }));
  const deleting = { caller: CALLER, namespace: "n", ids: [], filter: { $id: { $in: ids } } };
  expect(await deleteMemories(updating, deleting)).toEqual({ deleted: ids.length - 1, more: true });
  expect(await deleteMemories(domain.ports, deleting)).toEqual({ deleted: 1, more: false });
});

it("says of a memory by a filter that cannot be read, each time, that nothing is left", async () => {
  const { ports } = domain;
  const { log } = ports;
  const damaged = ids.length;
  const reading = {
    ...ports,
    log: {
      append: log.append.bind(log),
      read: log.read.bind(log),
      last: log.last.bind(log),
      erase: log.erase.bind(log),
      fetch: async (asked: Parameters<typeof log.fetch>[0]) => {
        const { found, ...more } = await log.fetch(asked);
        return { ...more, found: found.filter(({ sequence }) => sequence !== damaged) };
      },
    },
  };
  const deleting = { caller: CALLER, namespace: "n", ids: [], filter: { $id: { $in: ids } } };
  expect(await deleteMemories(reading as typeof ports, deleting)).toEqual({
    deleted: ids.length - 1,
    more: false,
  });
  expect(await deleteMemories(reading as typeof ports, deleting)).toEqual({ deleted: 0, more: false });
});

// Each try wrote another tombstone, which the log keeps for good.
it("a delete that is sent again finishes the first one, which could not erase, by the same tombstone", async () => {
  const ports = erasing((nth) => {
    if (nth <= 3) throw unavailable("the database is away");
  });
  const [id = ""] = ids;
  const send = () => deleteMemory(ports, { caller: CALLER, namespace: "n", id });
  for (let i = 0; i < 3; i++) await expect(send()).rejects.toMatchObject({ code: "unavailable" });
  await send();
  expect(await left()).toBe(ids.length - 1);
  const logId = (await service.storage.names.find({ accountId: CALLER.accountId, namespace: "n" })) ?? "";
  expect((await service.storage.log.last(logId))?.sequence).toBe(ids.length + 1);
  await expect(send()).rejects.toMatchObject({ code: "not_found" });
});
