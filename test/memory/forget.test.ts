import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { open as openLmdb } from "lmdb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { deleteMemory } from "../../src/memory/calls/delete-memory.js";
import { deleteNamespace } from "../../src/memory/calls/delete-namespace.js";
import { sweep } from "../../src/memory/erasure/sweeping.js";
import { verify } from "../../src/memory/log/verify.js";
import type { Erasures } from "../../src/memory/ports/erasures.js";
import type { Appended, Log, Stored } from "../../src/memory/ports/log.js";
import { compactLocal } from "../../src/storage/local/backup/compact.js";
import { encode } from "../../src/storage/local/log/record.js";
import { entriesOf as entriesIn } from "../contract/samples.js";
import { withChanges } from "../support/with-changes.js";
import { cloud, type Point } from "../vectors/clouds.js";
import { HandClock } from "./clock.js";
import { CALLER, DIMENSIONS, House, memoryOf, plainVectors, type Room, scopeOf, until } from "./room.js";
import { unsavedIndexes } from "./unsaved-indexes.js";

const rows = cloud(600, { dimensions: DIMENSIONS });
const query = (rows[0] as Point).vector;
/** Makes a memory with an id like the program's, which contains its number. */
const memory = (n: number, given: Partial<Stored> = {}): Stored => {
  const id = `mem_${String(n).padStart(26, "0")}`;
  return memoryOf(rows[n - 1] as Point, { id, opId: id, text: `text ${n}`, ...given });
};
const memories = (count: number) => Array.from({ length: count }, (_, i) => memory(i + 1));
const idOf = (n: number) => memory(n).id;

let house: House;
let clock: HandClock;
beforeEach(async () => {
  clock = new HandClock();
  house = await House.open({ clock });
});
afterEach(() => house.close());

const remove = ({ ports }: Room, n: number, namespace = "a") =>
  deleteMemory(ports, { caller: CALLER, namespace, id: idOf(n) });
const drop = ({ ports }: Room, force = true, namespace = "a") =>
  deleteNamespace(ports, { caller: CALLER, namespace, force });
const verified = () => {
  const { log, erasures } = house.storage;
  const { indexes } = unsavedIndexes();
  return verify({ log, erasures, vectors: house.vectors, indexes, dimensionsOf: () => DIMENSIONS });
};
const problems = async () => (await verified()).problems;
const entriesOf = async (logId: string) =>
  (await entriesIn(house.storage.log, { logId, from: 1, limit: 10_000 })).map(({ entry }) => entry);

/** Makes a room whose process dies after its nth write. */
function dyingRoom(writes: number): Room {
  let left = writes;
  const counted = <T extends object>(port: T, names: readonly string[]): T =>
    new Proxy(port, {
      get(target, name) {
        const method = Reflect.get(target, name);
        if (typeof method !== "function") return method;
        return async (...args: unknown[]) => {
          if (left <= 0) throw new Error("died");
          const result = await method.apply(target, args);
          if (names.includes(String(name)) && --left === 0) throw new Error("died");
          return result;
        };
      },
    });
  const erasures = counted<Erasures>(house.storage.erasures, ["begin", "end"]);
  const room = house.room({ log: counted<Log>(house.storage.log, ["append", "erase", "retire"]) });
  Object.assign(room.ports, { erasures });
  return room;
}

describe("deleting a memory", () => {
  it("takes it out of every later recall, and of the database", async () => {
    const logId = await house.write("a", memories(5));
    const room = house.room();
    expect((await room.recall("a", query))?.[0]).toBe(idOf(1));
    await remove(room, 1);
    expect(await room.recall("a", query)).not.toContain(idOf(1));
    expect(await house.room().size("a")).toBe(4);
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
    await house.write("a", memories(2));
    await house.write("b", [memory(3)]);
    const room = house.room();
    await remove(room, 1);
    for (const [n, namespace] of [
      [1, "a"],
      [3, "a"],
      [2, "b"],
      [2, "nowhere"],
    ] as const) {
      await expect(remove(room, n, namespace)).rejects.toMatchObject({ code: "not_found" });
    }
    expect(await room.size("a")).toBe(1);
    expect(await room.size("b")).toBe(1);
  });

  it("is done once when two ask for it at once, on one process or on two", async () => {
    await house.write("a", memories(3));
    const [one, other] = [house.room(), house.room()];
    const asked = await Promise.allSettled([remove(one, 1), remove(one, 1), remove(other, 1)]);
    expect(asked.some(({ status }) => status === "fulfilled")).toBe(true);
    for (const each of asked) {
      if (each.status === "rejected") expect(each.reason).toMatchObject({ code: "not_found" });
    }
    for (const room of [one, other]) expect(await room.size("a")).toBe(2);
    expect(await house.storage.erasures.pending(10)).toEqual([]);
    expect(await problems()).toEqual([]);
  });

  it("is not answered before the vector is out of the index and of its snapshot", async () => {
    await house.write("a", memories(3));
    const gone: number[] = [];
    const { vectors } = plainVectors(() => ({
      // A thread that is busy with other work does the same.
      remove: async (sequences) => {
        await wait(100);
        gone.push(...sequences);
      },
    }));
    const room = house.room({ vectors });
    await room.size("a");
    await remove(room, 2);
    expect(gone).toContain(2);
  });

  it.each(["open", "closed"])("takes it out of the snapshot of a large index that is %s", async (state) => {
    const logId = await house.write("a", memories(300));
    const first = house.room();
    await first.size("a");
    await until(() => house.hasSnapshot(logId));
    await first.namespaces.close();
    const room = house.room();
    if (state === "open") await room.size("a");
    expect(await house.vectors.holds(logId, [7, 8])).toEqual([7, 8]);
    await remove(room, 7);
    expect(await house.vectors.holds(logId, [7, 8])).toEqual([8]);
    expect(await room.size("a")).toBe(299);
    // A process opens an index once: two at the same time would replace each other's files.
    await room.namespaces.close();
    expect(await problems()).toEqual([]);
    expect(await house.room().size("a")).toBe(299);
    expect(house.hasSnapshot(logId)).toBe(true);
  });

  it("opens and builds nothing", async () => {
    await house.write("a", memories(3));
    const { vectors, opened } = plainVectors(() => ({}));
    const room = house.room({ vectors });
    await remove(room, 2);
    await expect(drop(room, false)).rejects.toThrow("holds 2 memories;");
    expect(await drop(room)).toBe(2);
    expect(opened).toEqual([]);
    expect(await problems()).toEqual([]);
  });

  it("does not wait for an index that is being built, nor does a drop", async () => {
    const logId = await house.write("a", memories(40));
    let isBuilding = false;
    const { vectors } = plainVectors(() => ({
      add: () => {
        isBuilding = true;
        return new Promise<void>(() => {});
      },
      remove: () => new Promise<void>(() => {}),
    }));
    const room = house.room({ vectors });
    void room.size("a").catch(() => {});
    await until(() => isBuilding);
    await remove(room, 2);
    await remove(room, 33);
    expect(await house.room().size("a")).toBe(38);
    expect(await drop(room)).toBe(38);
    expect((await entriesOf(logId)).filter(({ op }) => op === "store")).toEqual([]);
    expect(await house.storage.log.find(scopeOf("a"))).toBeUndefined();
  });

  it("follows a log that has moved, and finds nothing in one that was dropped", async () => {
    const dropped = await house.write("b", [memory(3), { op: "drop", opId: "end" }]);
    await expect(remove(house.room(), 3, "b")).rejects.toMatchObject({ code: "not_found" });
    expect(await house.storage.log.find(scopeOf("b"))).toBeUndefined();
    expect((await entriesOf(dropped)).at(-1)?.op).toBe("drop");
  });

  it.each([0, 1, 2, 3, 4])(
    "is finished by the sweep when its process dies behind write %d",
    async (writes) => {
      const logId = await house.write("a", memories(3));
      const dying = remove(dyingRoom(writes), 2);
      await expect(dying).rejects.toThrow("died");
      const room = house.room();
      // The process that began it may still be running.
      expect(await sweep(room.ports)).toBe(0);
      clock.atMs += 61_000;
      const began = writes > 0;
      expect(await sweep(room.ports)).toBe(began && writes < 4 ? 1 : 0);
      expect(await sweep(room.ports)).toBe(0);
      expect(await room.size("a")).toBe(began ? 2 : 3);
      expect(JSON.stringify(await entriesOf(logId)).includes("text 2")).toBe(!began);
      expect(await house.storage.erasures.pending(10)).toEqual([]);
      expect(await problems()).toEqual([]);
    },
  );
});

describe("dropping a namespace", () => {
  it("needs force when it is not empty", async () => {
    await house.write("a", memories(2));
    const room = house.room();
    await expect(drop(room, false)).rejects.toMatchObject({
      code: "failed_precondition",
      reason: "NAMESPACE_NOT_EMPTY",
      message: "the namespace holds 2 memories; set force to drop it",
    });
    await remove(room, 1);
    await expect(drop(room, false)).rejects.toThrow("holds 1 memory;");
    expect(await room.size("a")).toBe(1);
    await remove(room, 2);
    expect(await drop(room, false)).toBe(0);
    expect(await room.size("a")).toBeUndefined();
    expect(await problems()).toEqual([]);
  });

  it("answers how many it held, erases them all, and lets the name begin anew", async () => {
    const logId = await house.write("a", memories(600));
    const [room, other] = [house.room(), house.room()];
    expect(await other.size("a")).toBe(600);
    expect(await drop(room)).toBe(600);
    expect((await entriesOf(logId)).filter(({ op }) => op === "store")).toEqual([]);
    for (const each of [room, other]) expect(await each.recall("a", query)).toBeUndefined();
    await other.append("a", memory(1));
    for (const each of [room, other]) expect(await each.size("a")).toBe(1);
    expect(await house.storage.log.find(scopeOf("a"))).not.toBe(logId);
    await expect(drop(room, true, "nowhere")).rejects.toMatchObject({ code: "not_found" });
    await until(async () => (await problems()).length === 0);
  });

  it("is answered before a large one is erased, and the sweep erases it", async () => {
    const tiny = new Float32Array(DIMENSIONS).fill(1);
    const many = Array.from({ length: 10_001 }, (_, i) => {
      const id = `mem_${String(i + 1).padStart(26, "0")}`;
      return memoryOf({ sequence: i + 1, vector: tiny }, { id, opId: id });
    });
    const logId = await house.write("a", many);
    const room = house.room();
    expect(await drop(room)).toBe(10_001);
    expect(await room.recall("a", query)).toBeUndefined();
    expect((await verified()).memories).toBe(10_001);
    await room.append("a", memory(1));
    clock.atMs += 61_000;
    // The other one erases the records of its calls a second time.
    expect(await sweep(room.ports)).toBe(2);
    expect((await entriesOf(logId)).filter(({ op }) => op === "store")).toEqual([]);
    expect(await verified()).toMatchObject({ memories: 1, unfinished: 0, problems: [] });
  });

  it("leaves no snapshot", async () => {
    const logId = await house.write("a", memories(300));
    const before = house.room();
    await before.size("a");
    await until(() => house.hasSnapshot(logId));
    await before.namespaces.close();
    const room = house.room();
    await drop(room);
    await until(() => !house.hasSnapshot(logId));
    await room.namespaces.close();
    expect(house.hasSnapshot(logId)).toBe(false);
    expect(await problems()).toEqual([]);
  });

  it("leaves none of another process either, once that sweeps", async () => {
    const logId = await house.write("a", memories(300));
    const other = house.room();
    await other.size("a");
    await drop(house.room());
    await other.namespaces.close();
    await sweep(house.room().ports);
    expect(house.hasSnapshot(logId)).toBe(false);
  });

  it("loses no store that races with it: each is in the old one, and erased, or in the new one", async () => {
    await house.write("a", memories(50));
    const rooms = [house.room(), house.room()];
    const logIds = new Set<string | undefined>([await house.storage.log.find(scopeOf("a"))]);
    const stored = Array.from({ length: 200 }, (_, i) => memory(i + 51));
    const dropping: Promise<unknown>[] = [];
    await Promise.all(
      stored.map(async (entry, i) => {
        if (i % 60 === 30) dropping.push(drop(rooms[i % 2] as Room).catch((error) => error));
        if (i % 10 === 0) await wait(i / 10);
        await rooms[i % 2]?.append("a", entry);
        logIds.add(await house.storage.log.find(scopeOf("a")));
      }),
    );
    for (const dropped of await Promise.all(dropping)) {
      if (typeof dropped !== "number") expect(dropped).toMatchObject({ code: "not_found" });
    }
    const living = await house.storage.log.find(scopeOf("a"));
    const seen: string[] = [];
    for (const logId of await house.storage.log.logIds({ after: "", limit: 100 })) {
      for (const entry of await entriesOf(logId)) {
        if (entry.op === "store") expect(logId).toBe(living);
        if (entry.op === "store" || entry.op === "erased") seen.push(entry.id);
      }
    }
    expect(seen).toHaveLength(250);
    expect(new Set(seen).size).toBe(250);
    clock.atMs += 61_000;
    await sweep((rooms[0] as Room).ports);
    // The other process may not have noticed a drop, and keep a snapshot then. Its next sweep discards it.
    await until(async () => {
      await sweep((rooms[1] as Room).ports);
      return (await problems()).length === 0;
    });
  });

  // The writes are: begin, append, begin × 2, retire, erase × 2, end.
  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
    "is finished or undone by the sweep when its process dies behind write %d",
    async (writes) => {
      const logId = await house.write("a", memories(300));
      await expect(drop(dyingRoom(writes))).rejects.toThrow("died");
      clock.atMs += 61_000;
      const room = house.room();
      await sweep(room.ports);
      // One that was never sealed did not happen.
      const sealed = writes > 1;
      expect(await room.size("a")).toBe(sealed ? undefined : 300);
      const left = (await entriesOf(logId)).filter(({ op }) => op === "store");
      expect(left).toHaveLength(sealed ? 0 : 300);
      expect(await house.storage.erasures.pending(10)).toEqual([]);
      await room.append("a", memory(301));
      expect(await room.size("a")).toBe(sealed ? 1 : 301);
      expect(await problems()).toEqual([]);
    },
  );

  it("is seen by a call that meets its end before the name was taken off", async () => {
    await house.write("a", [...memories(3), { op: "drop", opId: "end" }]);
    const room = house.room();
    expect(await room.recall("a", query)).toBeUndefined();
    await room.append("a", memory(4));
    expect(await room.size("a")).toBe(1);
  });
});

describe("the sweep", () => {
  it("goes on with the others when one cannot be finished", async () => {
    await house.write("a", memories(2));
    await house.write("b", [memory(3), memory(4)]);
    await expect(remove(dyingRoom(1), 1, "a")).rejects.toThrow("died");
    await expect(remove(dyingRoom(1), 3, "b")).rejects.toThrow("died");
    clock.atMs += 61_000;
    const { log } = house.storage;
    const logId = await log.find(scopeOf("a"));
    const room = house.room({
      log: withChanges(log, {
        erase: (of) => (of.logId === logId ? Promise.reject(new Error("stuck")) : log.erase(of)),
      }),
    });
    await expect(sweep(room.ports)).rejects.toThrow("stuck");
    expect(await house.room().size("b")).toBe(1);
    const pending = await house.storage.erasures.pending(10);
    expect(pending.map(({ scope }) => scope.namespace)).toEqual(["a"]);
    expect(await sweep(house.room().ports)).toBe(1);
    expect(await problems()).toEqual([]);
  });
});

describe("verifying a database", () => {
  /** Changes entries behind the program's back. */
  const harm = async (change: (entries: ReturnType<typeof raw>) => Promise<unknown>) => {
    await house.close();
    const root = openLmdb({ path: join(house.dataDir, "recalld.mdb") });
    await change(raw(root));
    await root.close();
    house = await House.open({ clock, dataDir: house.dataDir });
  };
  const raw = (root: ReturnType<typeof openLmdb>) => root.openDB<Buffer>("log", { encoding: "binary" });

  it("finds nothing where all is well, and counts what there is", async () => {
    const logId = await house.write("a", memories(300));
    await house.write("b", memories(5));
    const room = house.room();
    await room.size("a");
    await until(() => house.hasSnapshot(logId));
    await remove(room, 7);
    await drop(room, true, "b");
    await room.append("b", memory(9));
    await room.namespaces.close();
    const { log, erasures } = house.storage;
    const derived = { vectors: house.vectors, indexes: unsavedIndexes().indexes };
    const verified = await verify({ log, erasures, ...derived, dimensionsOf: () => DIMENSIONS });
    expect(verified).toEqual({
      logIds: 3,
      memories: 300,
      erased: 6,
      indexes: 1,
      recall: { found: expect.any(Number), of: expect.any(Number) },
      unfinished: 0,
      problems: [],
    });
  });

  it("finds a hole and an unreadable entry", async () => {
    const logId = await house.write("a", memories(5));
    await harm((entries) => entries.remove([logId, 2]));
    await harm((entries) => entries.put([logId, 4], Buffer.from("spoilt")));
    expect(await problems()).toEqual([
      `${logId}, entry 2: it is missing`,
      expect.stringContaining(`${logId}, entry 4: it is unreadable`),
    ]);
  });

  it("finds a text that an erased entry still holds", async () => {
    const logId = await house.write("a", memories(3));
    await remove(house.room(), 2);
    const { opId, id, tokens, createdAtMs } = memory(2);
    const leftover = { op: "erased", opId, id, tokens, createdAtMs, text: "left" } as never;
    await harm((entries) => entries.put([logId, 2], encode(leftover)));
    expect(await problems()).toEqual([`${logId}, entry 2: it still holds the text it should not have`]);
  });

  it("finds a vector that an erased entry still holds", async () => {
    const logId = await house.write("a", memories(3));
    await remove(house.room(), 2);
    const { opId, id, tokens, createdAtMs, vectors } = memory(2);
    const leftover = { op: "erased", opId, id, tokens, createdAtMs, vectors } as never;
    await harm((entries) => entries.put([logId, 2], encode(leftover)));
    expect(await problems()).toEqual([`${logId}, entry 2: it still holds the vectors it should not have`]);
  });

  it.each<[string, Appended[], string]>([
    [
      "a tombstone whose target is not erased",
      [{ op: "delete", opId: "d", target: 2 }],
      "entry 2: was deleted, but is not erased",
    ],
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
    const logId = await house.write("a", [...memories(3), ...more]);
    expect(await problems()).toContain(`${logId}, ${problem}`);
  });

  it("finds what stands behind a log's end", async () => {
    const logId = await house.write("a", [
      { op: "drop", opId: "d" },
      { op: "drop", opId: "e" },
    ]);
    expect(await problems()).toEqual([`${logId}, entry 2: stands behind the log's end`]);
  });

  it("counts an erasure that is not finished, and takes what it has left for no problem", async () => {
    await house.write("a", memories(3));
    await expect(remove(dyingRoom(2), 2)).rejects.toThrow("died");
    expect(await verified()).toMatchObject({ unfinished: 1, problems: [] });
  });

  it("takes a log that moves for no problem until its copy has the name", async () => {
    const logId = await house.write("a", [...memories(3), { op: "moved", opId: "m", to: "elsewhere" }]);
    expect(await verified()).toMatchObject({ unfinished: 1, problems: [] });
    await house.storage.log.rename(scopeOf("a"), { from: logId, to: "elsewhere" });
    expect(await problems()).toContain(`${logId}, entry 1: has moved, but is not erased`);
  });

  it("finds a vector that a snapshot should not have, until the namespace is used", async () => {
    const logId = await house.write("a", memories(300));
    const room = house.room();
    await room.size("a");
    await until(() => house.hasSnapshot(logId));
    await room.namespaces.close();
    // Another process deletes it.
    await house.write("a", [{ op: "delete", opId: "d", target: 7 }]);
    await house.storage.log.erase({ logId, sequences: [7] });
    expect(await problems()).toEqual([
      `${logId}, entry 7: was deleted, but an index file has its vector; using the namespace takes it out`,
    ]);
    const next = house.room();
    expect(await next.size("a")).toBe(299);
    await next.namespaces.close();
    expect(await problems()).toEqual([]);
  });

  it("finds a snapshot of another log, of a dropped namespace, and of none at all", async () => {
    const logId = await house.write("a", memories(3));
    const dropped = await house.write("b", [{ op: "drop", opId: "d" }]);
    for (const [of, sequence, opId] of [
      [logId, 2, "another"],
      [dropped, 1, "d"],
      ["nobody", 1, "x"],
    ] as const) {
      const index = house.vectors.open(of);
      await index.add([{ sequence, opId, vectors: rows.slice(0, 200).map(({ vector }) => vector) }]);
      await index.settled();
      await index.close();
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
  const bytes = () => readFileSync(join(house.dataDir, "recalld.mdb"));

  it("leaves all that is there, and nothing of what was erased", async () => {
    const { accounts, claims, recent, systemRecords, usage } = house.storage;
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
    await claims.claim(claim);
    await recent.touch(scopeOf("ä b"), 5);
    await systemRecords.pin({
      after: undefined,
      to: { modelVersion: "", model: { id: "model", revision: "r", dtype: "q8", dimensions: DIMENSIONS } },
    });
    await usage.add([]);
    const secret = memory(100, { text: SECRET });
    const logId = await house.write("ä b", [...memories(50), secret, ...memories(99).slice(60)]);
    await house.write("b", memories(3));
    expect(bytes().includes(SECRET)).toBe(true);
    await remove(house.room(), 100, "ä b");
    const contentOf = () => {
      const root = openLmdb({ path: join(house.dataDir, "recalld.mdb"), maxDbs: 32 });
      const content: Record<string, unknown[]> = {};
      for (const name of [...root.getKeys()].map(String)) {
        const db = root.openDB<Buffer>(name, { encoding: "binary" });
        content[name] = [...db.getRange()].map(({ key, value }) => [key, value.toString("latin1")]);
      }
      // The folder's owner changes with every start.
      content.meta = content.meta?.filter((entry) => (entry as [string])[0] !== "owner") ?? [];
      return { content, close: () => root.close() };
    };
    await house.close();
    const before = contentOf();
    await before.close();
    expect(Object.keys(before.content).length).toBeGreaterThanOrEqual(10);
    expect(JSON.stringify(before.content)).not.toContain(SECRET);
    expect(bytes().includes(SECRET)).toBe(true);

    const sizes = await compactLocal({ dataDir: house.dataDir });
    expect(sizes.after).toBe(bytes().length);
    expect(bytes().includes(SECRET)).toBe(false);
    const after = contentOf();
    await after.close();
    expect(after.content).toEqual(before.content);

    house = await House.open({ clock, dataDir: house.dataDir });
    expect(await house.storage.log.find(scopeOf("ä b"))).toBe(logId);
    expect(await house.room().size("ä b")).toBe(89);
    expect(await problems()).toEqual([]);
    await house.room().append("b", memory(200));
    expect(await house.room().size("b")).toBe(4);
  });

  it("is refused while the folder is in use, and harms nothing", async () => {
    await house.write("a", memories(3));
    await expect(compactLocal({ dataDir: house.dataDir })).rejects.toMatchObject({
      code: "failed_precondition",
    });
    const room = house.room();
    await room.append("a", memory(4));
    expect(await room.size("a")).toBe(4);
  });
});
