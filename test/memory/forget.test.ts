import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { open as openLmdb } from "lmdb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { eraseForgotten, sweep, sweepingWork } from "../../src/memory/erasure/sweeping.js";
import { verify } from "../../src/memory/log/verify.js";
import { deleteMemory } from "../../src/memory/operations/delete-memory.js";
import { deleteNamespace } from "../../src/memory/operations/delete-namespace.js";
import { getNamespace } from "../../src/memory/operations/get-namespace.js";
import type { Erasures } from "../../src/memory/ports/erasures.js";
import type { Appended, Log, Stored } from "../../src/memory/ports/log.js";
import type { Names } from "../../src/memory/ports/names.js";
import { withChanges } from "../../src/memory/ports/ports.js";
import { compactLocal } from "../../src/storage/local/backup/compact.js";
import { encode } from "../../src/storage/local/log/entries.js";
import { entriesOf as entriesIn } from "../contract/samples.js";
import { cloud, type Point } from "../index/vectors/clouds.js";
import { HandClock } from "./clock.js";
import {
  CALLER,
  DIMENSIONS,
  type Domain,
  memoryOf,
  plainVectors,
  scopeOf,
  TestService,
  until,
} from "./domain.js";

const rows = cloud(600, { dimensions: DIMENSIONS });
const query = (rows[0] as Point).vector;
/** Makes a memory with an id like the program's, which contains its number. */
const memory = (n: number, given: Partial<Stored> = {}): Stored => {
  const id = `mem_${String(n).padStart(26, "0")}`;
  return memoryOf(rows[n - 1] as Point, { id, opId: id, text: `text ${n}`, ...given });
};
const memories = (count: number) => Array.from({ length: count }, (_, i) => memory(i + 1));
const idOf = (n: number) => memory(n).id;

let service: TestService;
let clock: HandClock;
beforeEach(async () => {
  clock = new HandClock();
  service = await TestService.open({ clock });
});
afterEach(() => service.close());

const remove = ({ ports }: Domain, n: number, namespace = "a") =>
  deleteMemory(ports, { caller: CALLER, namespace, id: idOf(n) });
const drop = ({ ports }: Domain, force = true, namespace = "a") =>
  deleteNamespace(ports, { caller: CALLER, namespace, force });
const verified = () => {
  const { storage, indexes } = service;
  return verify({ ...storage, indexes, dimensionsOf: () => DIMENSIONS });
};
const problems = async () => (await verified()).problems;
const entriesOf = async (logId: string) =>
  (await entriesIn(service.storage.log, { logId, from: 1, limit: 10_000 })).map(({ entry }) => entry);

/** Makes a domain whose process dies after its nth write. */
function dyingDomain(writes: number): Domain {
  let left = writes;
  const counted = <T extends object>(port: T, writes: readonly string[]): T =>
    new Proxy(port, {
      get(target, name) {
        const method = Reflect.get(target, name);
        if (typeof method !== "function") return method;
        return async (...args: unknown[]) => {
          if (left <= 0) throw new Error("died");
          const result = await method.apply(target, args);
          if (writes.includes(String(name)) && --left === 0) throw new Error("died");
          return result;
        };
      },
    });
  const { storage } = service;
  const erasures = counted<Erasures>(storage.erasures, ["findOrInsert", "remove"]);
  const log = counted<Log>(storage.log, ["append", "erase"]);
  const domain = service.domain({ log, names: counted<Names>(storage.names, ["retire"]) });
  Object.assign(domain.ports, { erasures });
  return domain;
}

describe("deleting a memory", () => {
  it("takes it out of every later recall, and of the database", async () => {
    const logId = await service.write("a", memories(5));
    const domain = service.domain();
    expect((await domain.recall("a", query))?.[0]).toBe(idOf(1));
    await remove(domain, 1);
    expect(await domain.recall("a", query)).not.toContain(idOf(1));
    expect(await service.domain().size("a")).toBe(4);
    expect((await entriesOf(logId)).map(({ op }) => op)).toEqual([
      "erased",
      "store",
      "store",
      "store",
      "store",
      "delete",
    ]);
    expect(JSON.stringify(await entriesOf(logId))).not.toContain("text 1");
    expect(await problems()).toEqual([]);
  });

  it("says that there is none, when there is none, or in another namespace, or twice", async () => {
    await service.write("a", memories(2));
    await service.write("b", [memory(3)]);
    const domain = service.domain();
    await remove(domain, 1);
    for (const [n, namespace] of [
      [1, "a"],
      [3, "a"],
      [2, "b"],
      [2, "nowhere"],
    ] as const) {
      await expect(remove(domain, n, namespace)).rejects.toMatchObject({ code: "not_found" });
    }
    expect(await domain.size("a")).toBe(1);
    expect(await domain.size("b")).toBe(1);
  });

  it("is done once when two ask for it at once, on one process or on two", async () => {
    await service.write("a", memories(3));
    const [one, other] = [service.domain(), service.domain()];
    const asked = await Promise.allSettled([remove(one, 1), remove(one, 1), remove(other, 1)]);
    expect(asked.some(({ status }) => status === "fulfilled")).toBe(true);
    for (const each of asked) {
      if (each.status === "rejected") expect(each.reason).toMatchObject({ code: "not_found" });
    }
    for (const domain of [one, other]) expect(await domain.size("a")).toBe(2);
    expect(await service.storage.erasures.list({ limit: 10 })).toEqual([]);
    expect(await problems()).toEqual([]);
  });

  it("is not answered before the vector is out of the index and of its snapshot", async () => {
    await service.write("a", memories(3));
    const gone: number[] = [];
    const { vectors } = plainVectors(() => ({
      // A thread that is busy with other work does the same.
      remove: async (sequences) => {
        await wait(100);
        gone.push(...sequences);
      },
    }));
    const domain = service.domain({ vectors });
    await domain.size("a");
    await remove(domain, 2);
    expect(gone).toContain(2);
  });

  it.each(["open", "closed"])("takes it out of the snapshot of a large index that is %s", async (state) => {
    const logId = await service.write("a", memories(300));
    const first = service.domain();
    await first.size("a");
    await until(() => service.hasSnapshot(logId));
    await first.namespaces.close();
    const domain = service.domain();
    if (state === "open") await domain.size("a");
    expect(await service.indexes.holds(logId, [7, 8])).toEqual([7, 8]);
    await remove(domain, 7);
    expect(await service.indexes.holds(logId, [7, 8])).toEqual([8]);
    expect(await domain.size("a")).toBe(299);
    // A process opens an index once: two at the same time would replace each other's files.
    await domain.namespaces.close();
    expect(await problems()).toEqual([]);
    expect(await service.domain().size("a")).toBe(299);
    expect(service.hasSnapshot(logId)).toBe(true);
  });

  it("opens and builds nothing", async () => {
    await service.write("a", memories(3));
    const { vectors, opened } = plainVectors(() => ({}));
    const domain = service.domain({ vectors });
    await remove(domain, 2);
    await expect(drop(domain, false)).rejects.toThrow("holds 2 memories;");
    expect(await drop(domain)).toBe(2);
    expect(opened).toEqual([]);
    expect(await problems()).toEqual([]);
  });

  it("does not wait for an index that is being built, nor does a drop", async () => {
    const logId = await service.write("a", memories(40));
    let isBuilding = false;
    const { vectors } = plainVectors(() => ({
      add: () => {
        isBuilding = true;
        return new Promise<void>(() => {});
      },
    }));
    const domain = service.domain({ vectors });
    void domain.size("a").catch(() => {});
    await until(() => isBuilding);
    await remove(domain, 2);
    await remove(domain, 33);
    expect(await service.domain().size("a")).toBe(38);
    expect(await drop(domain)).toBe(38);
    expect((await entriesOf(logId)).filter(({ op }) => op === "store")).toEqual([]);
    expect(await service.storage.names.find(scopeOf("a"))).toBeUndefined();
  });

  it("follows a log that has moved, and finds nothing in one that was dropped", async () => {
    const dropped = await service.write("b", [memory(3), { op: "drop", opId: "end" }]);
    await expect(remove(service.domain(), 3, "b")).rejects.toMatchObject({ code: "not_found" });
    expect(await service.storage.names.find(scopeOf("b"))).toBeUndefined();
    expect((await entriesOf(dropped)).at(-1)?.op).toBe("drop");
  });

  it.each([0, 1, 2])("is finished by the sweep when its process dies after write %d", async (writes) => {
    const logId = await service.write("a", memories(3));
    const dying = remove(dyingDomain(writes), 2);
    await expect(dying).rejects.toThrow("died");
    const domain = service.domain();
    const began = writes > 0;
    expect(await eraseForgotten(domain.ports)).toBe(began && writes < 2 ? 1 : 0);
    expect(await eraseForgotten(domain.ports)).toBe(0);
    expect(await domain.size("a")).toBe(began ? 2 : 3);
    expect(JSON.stringify(await entriesOf(logId)).includes("text 2")).toBe(!began);
    expect(await service.storage.erasures.list({ limit: 10 })).toEqual([]);
    expect(await problems()).toEqual([]);
  });
});

it("a deletion that a crash interrupted is finished at the next start", async () => {
  const logId = await service.write("a", memories(3));
  await expect(remove(dyingDomain(1), 2)).rejects.toThrow("died");
  const { ports } = service.domain();
  const count = async () => (await getNamespace(ports, { caller: CALLER, namespace: "a" })).memories;
  // The tombstone hides it from lists.
  expect(await count()).toBe(3);
  const isClosed = async () => false;
  for (const work of sweepingWork({ ...ports, isClosed, exclusive: true })) await work();
  expect(await count()).toBe(2);
  expect(JSON.stringify(await entriesOf(logId))).not.toContain("text 2");
});

it("a deletion is finished by the sweep once the index's files can be overwritten", async () => {
  const logId = await service.write("a", memories(3));
  const { ports } = service.domain();
  let isReadOnly = true;
  const indexes = withChanges(ports.indexes, {
    wipe: async (...given) => {
      if (isReadOnly) throw new Error("EROFS: read-only file system");
      return ports.indexes.wipe(...given);
    },
  });
  const deleting = deleteMemory({ ...ports, indexes }, { caller: CALLER, namespace: "a", id: idOf(2) });
  await expect(deleting).rejects.toThrow("EROFS");
  await expect(eraseForgotten({ ...ports, indexes })).rejects.toThrow("EROFS");
  isReadOnly = false;
  expect(await eraseForgotten({ ...ports, indexes })).toBe(1);
  expect((await entriesOf(logId)).map(({ op }) => op)).toEqual(["store", "erased", "store", "delete"]);
});

describe("dropping a namespace", () => {
  it("needs force when it is not empty", async () => {
    await service.write("a", memories(2));
    const domain = service.domain();
    await expect(drop(domain, false)).rejects.toMatchObject({
      code: "failed_precondition",
      reason: "NAMESPACE_NOT_EMPTY",
      message: "the namespace holds 2 memories; set force to drop it",
    });
    await remove(domain, 1);
    await expect(drop(domain, false)).rejects.toThrow("holds 1 memory;");
    expect(await domain.size("a")).toBe(1);
    await remove(domain, 2);
    expect(await drop(domain, false)).toBe(0);
    expect(await domain.size("a")).toBeUndefined();
    expect(await problems()).toEqual([]);
  });

  it("answers how many it held, erases them all, and lets the name begin anew", async () => {
    const logId = await service.write("a", memories(600));
    const [domain, other] = [service.domain(), service.domain()];
    expect(await other.size("a")).toBe(600);
    expect(await drop(domain)).toBe(600);
    expect((await entriesOf(logId)).filter(({ op }) => op === "store")).toEqual([]);
    for (const each of [domain, other]) expect(await each.recall("a", query)).toBeUndefined();
    await other.append("a", memory(1));
    for (const each of [domain, other]) expect(await each.size("a")).toBe(1);
    expect(await service.storage.names.find(scopeOf("a"))).not.toBe(logId);
    await expect(drop(domain, true, "nowhere")).rejects.toMatchObject({ code: "not_found" });
    await until(async () => (await problems()).length === 0);
  });

  it("is answered before a large one is erased, and the sweep erases it", async () => {
    const tiny = new Float32Array(DIMENSIONS).fill(1);
    const many = Array.from({ length: 10_001 }, (_, i) => {
      const id = `mem_${String(i + 1).padStart(26, "0")}`;
      return memoryOf({ sequence: i + 1, vector: tiny }, { id, opId: id });
    });
    const logId = await service.write("a", many);
    const domain = service.domain();
    expect(await drop(domain)).toBe(10_001);
    expect(await domain.recall("a", query)).toBeUndefined();
    expect((await verified()).memories).toBe(10_001);
    await domain.append("a", memory(1));
    clock.atMs += 61_000;
    // The other one erases the records of its calls a second time.
    expect(await sweep(domain.ports)).toBe(2);
    expect((await entriesOf(logId)).filter(({ op }) => op === "store")).toEqual([]);
    expect(await verified()).toMatchObject({ memories: 1, unfinished: 0, problems: [] });
  });

  it("leaves no snapshot", async () => {
    const logId = await service.write("a", memories(300));
    const before = service.domain();
    await before.size("a");
    await until(() => service.hasSnapshot(logId));
    await before.namespaces.close();
    const domain = service.domain();
    await drop(domain);
    await until(() => !service.hasSnapshot(logId));
    await domain.namespaces.close();
    expect(service.hasSnapshot(logId)).toBe(false);
    expect(await problems()).toEqual([]);
  });

  it("leaves none of another process either, once that sweeps", async () => {
    const logId = await service.write("a", memories(300));
    const other = service.domain();
    await other.size("a");
    await drop(service.domain());
    await other.namespaces.close();
    await sweep(service.domain().ports);
    expect(service.hasSnapshot(logId)).toBe(false);
  });

  it("loses no store that races with it: each is in the old one, and erased, or in the new one", async () => {
    await service.write("a", memories(50));
    const domains = [service.domain(), service.domain()];
    const logIds = new Set<string | undefined>([await service.storage.names.find(scopeOf("a"))]);
    const stored = Array.from({ length: 200 }, (_, i) => memory(i + 51));
    const dropping: Promise<unknown>[] = [];
    await Promise.all(
      stored.map(async (entry, i) => {
        if (i % 60 === 30) dropping.push(drop(domains[i % 2] as Domain).catch((error) => error));
        if (i % 10 === 0) await wait(i / 10);
        await domains[i % 2]?.append("a", entry);
        logIds.add(await service.storage.names.find(scopeOf("a")));
      }),
    );
    for (const dropped of await Promise.all(dropping)) {
      if (typeof dropped !== "number") expect(dropped).toMatchObject({ code: "not_found" });
    }
    const living = await service.storage.names.find(scopeOf("a"));
    const seen: string[] = [];
    for (const logId of await service.storage.log.logIds({ after: "", limit: 100 })) {
      for (const entry of await entriesOf(logId)) {
        if (entry.op === "store") expect(logId).toBe(living);
        if (entry.op === "store" || entry.op === "erased") seen.push(entry.id);
      }
    }
    expect(seen).toHaveLength(250);
    expect(new Set(seen).size).toBe(250);
    clock.atMs += 61_000;
    await sweep((domains[0] as Domain).ports);
    // The other process may not have noticed a drop, and keep a snapshot then. Its next sweep discards it.
    await until(async () => {
      await sweep((domains[1] as Domain).ports);
      return (await problems()).length === 0;
    });
  });

  // The writes are: begin, append, begin × 2, retire, erase × 2, end.
  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
    "is finished or undone by the sweep when its process dies after write %d",
    async (writes) => {
      const logId = await service.write("a", memories(300));
      await expect(drop(dyingDomain(writes))).rejects.toThrow("died");
      clock.atMs += 61_000;
      const domain = service.domain();
      await sweep(domain.ports);
      // One that was never sealed did not happen.
      const sealed = writes > 1;
      expect(await domain.size("a")).toBe(sealed ? undefined : 300);
      const left = (await entriesOf(logId)).filter(({ op }) => op === "store");
      expect(left).toHaveLength(sealed ? 0 : 300);
      expect(await service.storage.erasures.list({ limit: 10 })).toEqual([]);
      await domain.append("a", memory(301));
      expect(await domain.size("a")).toBe(sealed ? 1 : 301);
      expect(await problems()).toEqual([]);
    },
  );

  it("keeps its record though a sweep has just found that an earlier try did not happen", async () => {
    const logId = await service.write("a", memories(3));
    const { ports } = service.domain();
    const erasure = { id: logId, scope: scopeOf("a"), logId, begunAtMs: clock.wallMs() - 61_000 };
    await ports.erasures.findOrInsert(erasure);
    // A drop of many memories, which leaves them to the sweep.
    const remove = vi
      .fn(ports.erasures.remove.bind(ports.erasures))
      .mockImplementationOnce(async (request) => {
        await service.write("a", [{ op: "drop", opId: "end" }]);
        await ports.erasures.findOrInsert(erasure);
        await ports.names.retire(scopeOf("a"), logId);
        return ports.erasures.remove(request);
      });
    await sweep({ ...ports, erasures: withChanges(ports.erasures, { remove }) });
    expect((await ports.erasures.list({ limit: 9 })).map(({ id }) => id)).toEqual([logId]);
    await sweep(ports);
    expect((await entriesOf(logId)).filter(({ op }) => op === "store")).toEqual([]);
    expect(await problems()).toEqual([]);
  });

  it("is seen by a call that meets its end before the name was taken off", async () => {
    await service.write("a", [...memories(3), { op: "drop", opId: "end" }]);
    const domain = service.domain();
    expect(await domain.recall("a", query)).toBeUndefined();
    await domain.append("a", memory(4));
    expect(await domain.size("a")).toBe(1);
  });
});

describe("the sweep", () => {
  it("goes on with the others when one cannot be finished", async () => {
    await service.write("a", memories(2));
    await service.write("b", [memory(3), memory(4)]);
    await expect(remove(dyingDomain(1), 1, "a")).rejects.toThrow("died");
    await expect(remove(dyingDomain(1), 3, "b")).rejects.toThrow("died");
    const { log, names, secondaryIndexes } = service.storage;
    const logId = await names.find(scopeOf("a"));
    const domain = service.domain({
      log: withChanges(log, {
        erase: (request) =>
          request.logId === logId ? Promise.reject(new Error("stuck")) : log.erase(request),
      }),
    });
    await expect(eraseForgotten(domain.ports)).rejects.toThrow("stuck");
    expect(await service.domain().size("b")).toBe(1);
    expect(await secondaryIndexes.unerased({ limit: 10 })).toEqual([{ logId, sequence: 1 }]);
    expect(await eraseForgotten(service.domain().ports)).toBe(1);
    expect(await problems()).toEqual([]);
  });
});

describe("verifying a database", () => {
  /** Changes entries behind the program's back. */
  const harm = async (change: (entries: ReturnType<typeof raw>) => Promise<unknown>) => {
    await service.close();
    const root = openLmdb({ path: join(service.dataDir, "recalld.mdb") });
    await change(raw(root));
    await root.close();
    service = await TestService.open({ clock, dataDir: service.dataDir });
  };
  const raw = (root: ReturnType<typeof openLmdb>) => root.openDB<Buffer>("log", { encoding: "binary" });

  it("finds nothing where all is well, and counts what there is", async () => {
    const logId = await service.write("a", memories(300));
    await service.write("b", memories(5));
    const domain = service.domain();
    await domain.size("a");
    await until(() => service.hasSnapshot(logId));
    await remove(domain, 7);
    await drop(domain, true, "b");
    await domain.append("b", memory(9));
    await domain.namespaces.close();
    const { storage, indexes } = service;
    const verified = await verify({ ...storage, indexes, dimensionsOf: () => DIMENSIONS });
    expect(verified).toEqual({
      logIds: 3,
      memories: 300,
      erased: 6,
      indexes: 1,
      unusable: 0,
      unfinished: 0,
      problems: [],
    });
  });

  it("finds an external id that two have at once, but not one whose memory had expired", async () => {
    const [first, next, last] = [memory(1), memory(2), memory(3)].map((each, i) => ({
      ...each,
      externalId: "x",
      createdAtMs: 1_000 * (i + 1),
      expiresAtMs: 2_000 * (i + 1),
    })) as [Stored, Stored, Stored];
    const logId = await service.write("a", [first, next]);
    expect(await problems()).toEqual([]);
    await service.write("a", [last]);
    expect(await problems()).toEqual([`${logId}, entry 3: repeats the external id of an earlier memory`]);
  });

  it("finds a hole and an unreadable entry", async () => {
    const logId = await service.write("a", memories(5));
    await harm((entries) => entries.remove([logId, 2]));
    await harm((entries) => entries.put([logId, 4], Buffer.from("spoilt")));
    expect(await problems()).toEqual([
      `${logId}, entry 2: it is missing`,
      expect.stringContaining(`${logId}, entry 4: it is unreadable`),
    ]);
  });

  it("finds a text that an erased entry still holds", async () => {
    const logId = await service.write("a", memories(3));
    await remove(service.domain(), 2);
    const { opId, id, tokens, createdAtMs } = memory(2);
    const leftover = { op: "erased", opId, id, tokens, createdAtMs, text: "left" } as never;
    await harm((entries) => entries.put([logId, 2], encode(leftover)));
    expect(await problems()).toEqual([`${logId}, entry 2: it still holds the text it should not have`]);
  });

  it("finds a vector that an erased entry still holds", async () => {
    const logId = await service.write("a", memories(3));
    await remove(service.domain(), 2);
    const { opId, id, tokens, createdAtMs, vectors } = memory(2);
    const leftover = { op: "erased", opId, id, tokens, createdAtMs, vectors } as never;
    await harm((entries) => entries.put([logId, 2], encode(leftover)));
    expect(await problems()).toEqual([`${logId}, entry 2: it still holds the vectors it should not have`]);
  });

  it.each<[string, Appended[], string]>([
    [
      "memories of a dropped namespace",
      [{ op: "drop", opId: "d" }],
      "entry 1: was dropped, but is not erased",
    ],
    [
      "an id that is repeated",
      [memory(2, { opId: "other" })],
      "entry 4: repeats the id of an earlier memory",
    ],
    [
      "a vector of another model",
      [memory(4, { vectors: new Float32Array(8) })],
      "entry 4: its vector is of another model",
    ],
    [
      "a vector that is not finite",
      [memory(4, { vectors: new Float32Array(DIMENSIONS).fill(Number.NaN) })],
      "entry 4: its vector is not finite",
    ],
  ])("finds %s", async (_, more, problem) => {
    const logId = await service.write("a", [...memories(3), ...more]);
    expect(await problems()).toContain(`${logId}, ${problem}`);
  });

  it("finds a tombstone whose target is not erased, and is not known to be left", async () => {
    const logId = await service.write("a", [...memories(3), { op: "delete", opId: "d", target: 2 }]);
    const { storage, indexes } = service;
    const secondaryIndexes = withChanges(storage.secondaryIndexes, { unerased: async () => [] });
    const verified = await verify({ ...storage, secondaryIndexes, indexes, dimensionsOf: () => DIMENSIONS });
    expect(verified.problems).toEqual([`${logId}, entry 2: was deleted, but is not erased`]);
  });

  it("finds what stands after a log's end", async () => {
    const logId = await service.write("a", [
      { op: "drop", opId: "d" },
      { op: "drop", opId: "e" },
    ]);
    expect(await problems()).toEqual([`${logId}, entry 2: stands after the log's end`]);
  });

  it("counts an erasure that is not finished, and takes what it has left for no problem", async () => {
    await service.write("a", memories(3));
    await expect(remove(dyingDomain(1), 2)).rejects.toThrow("died");
    expect(await verified()).toMatchObject({ unfinished: 1, problems: [] });
  });

  it.each([false, true])(
    "takes for no problem what a server erases meanwhile, done when it looks again: %s",
    async (isDone) => {
      const logId = await service.write("a", memories(3));
      const { storage, indexes } = service;
      let reads = 0;
      const read: Log["read"] = async (range) => {
        const isFirst = reads++ === 0;
        if (isFirst) {
          await storage.erasures.findOrInsert({ id: "e", scope: scopeOf("a"), logId, begunAtMs: 0 });
          await service.write("a", [{ op: "drop", opId: "d" }]);
        }
        const found = await storage.log.read(range);
        if (isFirst && isDone) {
          await storage.log.erase({ logId, sequences: [1, 2, 3] });
          await storage.erasures.remove({ id: "e" });
        }
        return found;
      };
      const log = withChanges(storage.log, { read });
      const verified = await verify({ ...storage, log, indexes, dimensionsOf: () => DIMENSIONS });
      expect(verified.problems).toEqual([]);
    },
  );

  it("takes a log that moves for no problem until its copy has the name", async () => {
    const logId = await service.write("a", [...memories(3), { op: "moved", opId: "m", to: "elsewhere" }]);
    expect(await verified()).toMatchObject({ unfinished: 1, problems: [] });
    await service.storage.names.rename(scopeOf("a"), { from: logId, to: "elsewhere" });
    expect(await problems()).toContain(`${logId}, entry 1: has moved, but is not erased`);
  });

  it("finds a vector that a snapshot should not have, until the namespace is used", async () => {
    const logId = await service.write("a", memories(300));
    const domain = service.domain();
    await domain.size("a");
    await until(() => service.hasSnapshot(logId));
    await domain.namespaces.close();
    // Another process deletes it.
    await service.write("a", [{ op: "delete", opId: "d", target: 7 }]);
    await service.storage.log.erase({ logId, sequences: [7] });
    expect(await problems()).toEqual([
      `${logId}, entry 7: was deleted, but an index file has it; using the namespace takes it out`,
    ]);
    const next = service.domain();
    expect(await next.size("a")).toBe(299);
    await next.namespaces.close();
    expect(await problems()).toEqual([]);
  });

  it("finds a snapshot of another log, of a dropped namespace, and of none at all", async () => {
    const logId = await service.write("a", memories(3));
    const dropped = await service.write("b", [{ op: "drop", opId: "d" }]);
    for (const [request, sequence, opId] of [
      [logId, 2, "another"],
      [dropped, 1, "d"],
      ["nobody", 1, "x"],
    ] as const) {
      const { indexes } = service;
      const index = indexes.open(request);
      const vectors = rows.slice(0, 200).map(({ vector }) => vector);
      await index.add([{ sequence, memory: memory(sequence), vectors }], { sequence, opId });
      await until(async () => (await indexes.measureFiles(request)).parts.vectors.rows > 0);
      await index.close({ retainFiles: true });
    }
    expect(new Set(await problems())).toEqual(
      new Set([
        `${logId}, entry 2: the index files are of another log`,
        `${dropped}: index files are left of a log that has ended`,
        "nobody: index files are left of a log that has ended",
      ]),
    );
  });
});

describe("compacting the local database", () => {
  const SECRET = "the unmistakable secret of 4711";
  const bytes = () => readFileSync(join(service.dataDir, "recalld.mdb"));

  it("leaves all that is there, and nothing of what was erased", async () => {
    const { accounts, claims, names, systemRecords, usage } = service.storage;
    const key = { id: "k", name: "", hash: "h", scopes: [], createdAtMs: 1 } as never;
    const account = {
      id: "acc_1",
      email: "",
      plan: "free",
      callsLimit: 9,
      callsLeft: 7,
      keys: [key],
      createdAtMs: 1,
    };
    await accounts.create(account as never);
    const claim = {
      id: "acc_1:x",
      requestHash: "h",
      memoryId: "m",
      owner: "o",
      claimedAtMs: 1,
      expiresAtMs: 2e12,
    };
    await claims.findOrInsert(claim);
    await systemRecords.pin({
      after: undefined,
      to: { modelVersion: "", model: { id: "model", revision: "r", dtype: "q8", dimensions: DIMENSIONS } },
    });
    await usage.add([], { by: "a-process", number: 0 });
    const secret = memory(100, { text: SECRET });
    const logId = await service.write("ä b", [...memories(50), secret, ...memories(99).slice(60)]);
    await service.write("b", memories(3));
    await names.touch(scopeOf("ä b"), 5);
    expect(bytes().includes(SECRET)).toBe(true);
    await remove(service.domain(), 100, "ä b");
    const contentOf = () => {
      const root = openLmdb({ path: join(service.dataDir, "recalld.mdb"), maxDbs: 32 });
      const content: Record<string, unknown[]> = {};
      for (const name of [...root.getKeys()].map(String)) {
        const db = root.openDB<Buffer>(name, { encoding: "binary" });
        content[name] = [...db.getRange()].map(({ key, value }) => [key, value.toString("latin1")]);
      }
      // The folder's owner changes with every start.
      content.meta = content.meta?.filter((entry) => (entry as [string])[0] !== "owner") ?? [];
      return { content, close: () => root.close() };
    };
    await service.close();
    const before = contentOf();
    await before.close();
    expect(Object.keys(before.content).length).toBeGreaterThanOrEqual(10);
    expect(JSON.stringify(before.content)).not.toContain(SECRET);
    expect(bytes().includes(SECRET)).toBe(true);

    const sizes = await compactLocal(service.dataDir);
    expect(sizes.after).toBe(bytes().length);
    expect(bytes().includes(SECRET)).toBe(false);
    const after = contentOf();
    await after.close();
    expect(after.content).toEqual(before.content);

    service = await TestService.open({ clock, dataDir: service.dataDir });
    expect(await service.storage.names.find(scopeOf("ä b"))).toBe(logId);
    expect(await service.domain().size("ä b")).toBe(89);
    expect(await problems()).toEqual([]);
    await service.domain().append("b", memory(200));
    expect(await service.domain().size("b")).toBe(4);
  });

  it("fills the pages of what it rewrites", async () => {
    await service.close();
    const root = openLmdb({ path: join(service.dataDir, "recalld.mdb"), maxDbs: 32 });
    const many = root.openDB<Buffer, number>("many", { encoding: "binary" });
    // As long as a memory with its vector, of which two fit on a page.
    const value = Buffer.alloc(1_900);
    root.transactionSync(() => {
      for (let i = 0; i < 300; i++) many.putSync(i, value);
    });
    await root.close();
    const { after } = await compactLocal(service.dataDir);
    expect(after / (300 * value.length)).toBeLessThan(1.5);
    service = await TestService.open({ clock, dataDir: service.dataDir });
  });

  it("is refused while the folder is in use, and harms nothing", async () => {
    await service.write("a", memories(3));
    await expect(compactLocal(service.dataDir)).rejects.toMatchObject({
      code: "failed_precondition",
    });
    const domain = service.domain();
    await domain.append("a", memory(4));
    expect(await domain.size("a")).toBe(4);
  });
});
