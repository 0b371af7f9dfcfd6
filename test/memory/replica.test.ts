import { setImmediate as nextIteration } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { unavailable } from "../../src/errors.js";
import type { VectorPart } from "../../src/index/vectors/usearch-index.js";
import { Appender } from "../../src/memory/log/appender.js";
import { LogEndedError, Replica } from "../../src/memory/log/replica.js";
import type { Index } from "../../src/memory/ports/index.js";
import type { Entry, Lost, Sequenced } from "../../src/memory/ports/log.js";
import { aMemory, memories } from "../contract/samples.js";
import { HandClock } from "./clock.js";
import { indexesWith } from "./domain.js";
import { plainIndex } from "./plain-index.js";
import { ScriptedLog } from "./scripted-log.js";

function setUp(changes: Partial<VectorPart> = {}, ofWords: Partial<Index> = {}) {
  const log = new ScriptedLog();
  const index = plainIndex(changes);
  const lost: Sequenced<Lost>[] = [];
  const troubles: unknown[] = [];
  const indexes = indexesWith(index);
  let opened: Index | undefined;
  const clock = new HandClock();
  const replica = new Replica("i", {
    ...log.ports,
    indexes: {
      ...indexes,
      open: (logId) => {
        opened = Object.assign(indexes.open(logId), ofWords);
        return opened;
      },
    },
    indexMemoryBytesMax: Number.MAX_SAFE_INTEGER,
    clock,
    onLost: (_, what) => lost.push(what),
    onTrouble: (error) => troubles.push(error),
  });
  return { log, index, lost, troubles, replica, clock, opened: () => opened };
}

const damaged: Entry = { op: "lost", opId: "", reason: "it is missing" };

describe("a replica", () => {
  it("applies a long log once, in order, in few reads", async () => {
    const { log, index, replica } = setUp();
    log.add(...memories(1500));
    await replica.current();
    expect([...index.rows.keys()]).toEqual(Array.from({ length: 1500 }, (_, i) => i + 1));
    // The first read asks for 16, and later ones for 256 at a time.
    expect(log.reads).toBe(7);
    await replica.current();
    expect(log.reads).toBe(8);
  });

  it("shares one look at the log between callers of the same moment", async () => {
    const { log, replica } = setUp();
    log.add(...memories(3));
    await Promise.all(Array.from({ length: 100 }, () => replica.current()));
    expect(log.reads).toBe(1);
  });

  it("shows what was in the log before the call, even while another look is under way", async () => {
    const { log, index, replica } = setUp();
    let second: Promise<void> | undefined;
    log.onRead = async () => {
      log.onRead = async () => {};
      // The first reader does not know of it: its page may or may not have it.
      second = Promise.resolve().then(() => {
        log.add(aMemory());
        return replica.current();
      });
    };
    log.add(aMemory());
    await replica.current();
    await second;
    expect(index.size).toBe(2);
  });

  it("reports a lost entry once, and serves the rest", async () => {
    const { log, lost, index, replica } = setUp();
    const createdAt = (createdAtMs: number) => aMemory({ createdAtMs });
    log.add(createdAt(1), damaged, createdAt(2), damaged, createdAt(3));
    await replica.current();
    await replica.current();
    expect(lost.map(({ sequence }) => sequence)).toEqual([2, 4]);
    expect([...index.rows.keys()]).toEqual([1, 3, 5]);
    const query = { vectors: [new Float32Array(8)], wanted: 10 };
    const found = await replica.searching((search) => search.best(query));
    expect(found.ranked.map(({ sequence }) => sequence)).toEqual([1, 3, 5]);
  });

  it("serves the rest when a vector does not fit the index", async () => {
    const { log, lost, index, replica } = setUp({
      add: async (rows) => {
        // Like the real index, it takes in nothing of a batch that has a bad vector.
        if (rows.some(({ vectors }) => vectors[0]?.length !== 8))
          throw new Error("not a vector of 8 numbers");
        for (const row of rows) index.rows.set(row.sequence, row);
      },
      fits: ([vector]) => vector?.length === 8,
    });
    log.add(aMemory(), aMemory({ vectors: new Float32Array(7) }), aMemory());
    await replica.current();
    expect(lost.map(({ sequence }) => sequence)).toEqual([2]);
    expect([...index.rows.keys()]).toEqual([1, 3]);
    expect(replica.broken).toBe(false);
  });

  it("takes out what a tombstone names, and passes over what is already erased", async () => {
    const { log, index, replica } = setUp();
    const { opId, id, tokens, createdAtMs } = aMemory();
    log.add(aMemory(), { op: "erased", opId, id, tokens, createdAtMs }, aMemory());
    log.add({ op: "delete", opId: "d1", target: 1 }, { op: "delete", opId: "d2", target: 2 });
    await replica.current();
    expect([...index.rows.keys()]).toEqual([3]);
    expect(replica.applied).toBe(5);
  });

  it("is sealed at the log's end, for every later call", async () => {
    const { log, replica } = setUp();
    log.add(aMemory(), { op: "drop", opId: "end" });
    for (let i = 0; i < 2; i++) await expect(replica.current()).rejects.toBeInstanceOf(LogEndedError);
    expect(replica.hasEnded).toBe(true);
  });

  it("passes over what it has already, and refuses a gap", async () => {
    const { index, replica } = setUp();
    const entries = memories(4).map((entry, i) => ({ sequence: i + 1, entry }));
    await replica.apply(entries.slice(0, 2));
    await replica.apply(entries.slice(0, 3));
    expect([...index.rows.keys()]).toEqual([1, 2, 3]);
    await expect(replica.apply([{ sequence: 5, entry: aMemory() }])).rejects.toThrow("log gap before 5");
    expect(replica.applied).toBe(3);
  });

  it("says that trying again is right when its index fails, that it must be replaced, and to the operator why", async () => {
    const { log, replica, troubles } = setUp({
      search: async () => {
        throw new Error("the index thread ended");
      },
    });
    log.add(aMemory());
    await replica.current();
    const query = { vectors: [new Float32Array(8)], wanted: 1 };
    await expect(replica.searching((search) => search.best(query))).rejects.toMatchObject({
      code: "unavailable",
      cause: { message: "the index thread ended" },
    });
    expect(replica.broken).toBe(true);
    expect(troubles).toMatchObject([{ message: "the index thread ended" }]);
  });

  it("answers nothing from an index that has failed to take in what was answered before", async () => {
    let fail = (_: Error) => {};
    const { replica } = setUp({
      add: () => new Promise((_, reject) => (fail = reject)),
      // Its thread does the same and answers in turn.
      search: async () => {
        fail(new Error("out of memory"));
        await nextIteration();
        return [];
      },
    });
    const applied = replica.apply([{ sequence: 1, entry: aMemory() }]).catch(() => "failed");
    const query = { vectors: [new Float32Array(8)], wanted: 1 };
    await expect(replica.searching((search) => search.best(query))).rejects.toMatchObject({
      code: "unavailable",
    });
    expect(await applied).toBe("failed");
  });

  it("is stopped in the midst of a long way to catch up", async () => {
    const { log, replica } = setUp();
    log.add(...memories(5_000));
    const caught = replica.current();
    await nextIteration();
    await replica.stop();
    const { reads } = log;
    await expect(caught).rejects.toMatchObject({ code: "unavailable" });
    await nextIteration();
    expect(log.reads).toBe(reads);
    expect(replica.applied).toBeLessThan(5_000);
  });

  it("restores its index once, though the log cannot be read behind it", async () => {
    let restored = 0;
    const restore = async () => {
      restored++;
      return { upto: 2, applied: 2, marks: [{ sequence: 2, opId: "last" }], removed: [], expiredMs: 0 };
    };
    const { log, index, replica } = setUp({}, { restore });
    log.add(aMemory(), aMemory({ opId: "last" }), aMemory());
    log.onRead = () => Promise.reject(unavailable("the database does not answer"));
    for (let i = 0; i < 5; i++) await expect(replica.current()).rejects.toThrow("does not answer");
    log.onRead = async () => {};
    await replica.current();
    expect(restored).toBe(1);
    expect([...index.rows.keys()]).toEqual([3]);
  });

  it("is replaced when its files cannot be read: it has some of them by then", async () => {
    const restore = () => Promise.reject(new Error("EIO: i/o error, read"));
    const { replica } = setUp({}, { restore });
    await expect(replica.current()).rejects.toMatchObject({ code: "unavailable" });
    expect(replica.broken).toBe(true);
  });

  it("takes in nothing before it is restored wholly, and nothing twice, though a store comes in between", async () => {
    const restore = async () => ({
      upto: 2,
      applied: 2,
      marks: [{ sequence: 2, opId: "last" }],
      removed: [],
      expiredMs: 0,
    });
    const { log, index, replica } = setUp({}, { restore });
    log.add(aMemory(), aMemory({ opId: "last" }));
    log.onList = () => Promise.reject(unavailable("the database does not answer"));
    await expect(replica.current()).rejects.toThrow("does not answer");
    log.onList = async () => {};
    await new Appender(replica, { ...log.ports, clock: new HandClock() }).append(aMemory());
    await replica.current();
    expect([...index.rows.keys()]).toEqual([3]);
    expect(replica.broken).toBe(false);
  });

  describe("whose index's files lack memories", () => {
    let onReset = async () => {};
    const begun = (removed: number[]) => {
      let whole = false;
      const restore = async () => ({
        upto: 3,
        applied: 3,
        marks: [{ sequence: 3, opId: "last" }],
        removed,
        expiredMs: 0,
      });
      const reset = async () => {
        whole = true;
        await onReset();
        set.index.rows.clear();
      };
      const set: ReturnType<typeof setUp> = setUp({ reset }, { restore });
      set.log.add(aMemory(), aMemory(), aMemory({ opId: "last" }));
      return { ...set, isReset: () => whole };
    };

    it("goes on from it when the log has their tombstones behind it", async () => {
      const { log, replica, index, isReset } = begun([1, 3]);
      log.add(...[3, 1].map((target) => ({ op: "delete", opId: `d${target}`, target }) as const), aMemory());
      await replica.current();
      expect(isReset()).toBe(false);
      expect([...index.rows.keys()]).toEqual([6]);
    });

    it("goes on from it when the log has erased them before its end", async () => {
      const { log, replica, index, isReset } = begun([1, 3]);
      log.erase(1);
      log.add({ op: "delete", opId: "d3", target: 3 }, aMemory());
      await replica.current();
      expect(isReset()).toBe(false);
      expect([...index.rows.keys()]).toEqual([5]);
    });

    it("takes out what was superseded before the end of the files, but not taken out of them", async () => {
      const last = { sequence: 3, opId: "last" };
      const set = setUp(
        {},
        { restore: async () => ({ upto: 3, applied: 3, marks: [last], removed: [], expiredMs: 0 }) },
      );
      for (const sequence of [1, 2, 3]) set.index.rows.set(sequence, { sequence, vectors: [] });
      set.log.add(aMemory(), aMemory({ supersedes: [1] }), aMemory({ opId: "last" }));
      await set.replica.current();
      expect([...set.index.rows.keys()]).toEqual([2, 3]);
    });

    it("takes in once what is stored while it is emptied", async () => {
      const { log, replica, index, isReset } = begun([1]);
      let storing: Promise<unknown> | undefined;
      onReset = async () => {
        await nextIteration();
        storing = new Appender(replica, { ...log.ports, clock: new HandClock() }).append(aMemory());
        for (let i = 0; i < 3; i++) await nextIteration();
      };
      await replica.current();
      await storing;
      expect(isReset()).toBe(true);
      expect([...index.rows.keys()]).toEqual([1, 2, 3, 4]);
      expect(replica.index.size).toBe(4);
      replica.forget(2);
      expect(replica.index.size).toBe(3);
    });

    it("is built from the log when one has none: the database is an older copy of itself", async () => {
      const { log, replica, index, isReset } = begun([1, 3]);
      log.add({ op: "delete", opId: "d3", target: 3 }, aMemory());
      await replica.current();
      expect(isReset()).toBe(true);
      expect([...index.rows.keys()]).toEqual([1, 2, 5]);
      expect(replica.applied).toBe(5);
    });
  });

  it("takes no memory in that was forgotten before it came to it, and does not wait for its index", async () => {
    const forgotten: number[] = [];
    const { log, index, replica } = setUp({
      remove: async (sequences) => {
        forgotten.push(...sequences);
        return new Promise(() => {});
      },
    });
    log.add(...memories(20));
    let isAsked = false;
    log.onRead = async () => {
      if (log.reads === 1 || isAsked) return;
      isAsked = true;
      await replica.forget(18);
    };
    await replica.current();
    expect(forgotten).toEqual([18]);
    expect(index.rows.has(17)).toBe(true);
    expect(index.rows.has(18)).toBe(false);
  });

  it("ends what it reads when its namespace is dropped meanwhile", async () => {
    const { log, replica } = setUp();
    log.add(...memories(2000));
    log.onRead = async () => {
      if (log.reads === 2) replica.hasEnded = true;
    };
    await expect(replica.current()).rejects.toBeInstanceOf(LogEndedError);
    expect(log.reads).toBe(2);
  });

  it("takes out some at a time of many that expire at once, and all searches wait until none is left", async () => {
    const taken: number[] = [];
    const { log, index, replica, clock } = setUp({
      remove: async (sequences) => {
        taken.push(sequences.length);
        for (const sequence of sequences) index.rows.delete(sequence);
      },
    });
    log.add(aMemory());
    const expiresAtMs = clock.wallMs() + 1_000;
    log.add(...memories(2_000).map((memory) => ({ ...memory, expiresAtMs })));
    await replica.current();
    taken.length = 0;
    clock.atMs += 2_000;
    const query = { vectors: [new Float32Array(8)], wanted: 10 };
    const search = () => replica.searching((each) => each.best(query));
    for (const { ranked } of await Promise.all([search(), search()])) {
      expect(ranked.map(({ sequence }) => sequence)).toEqual([1]);
    }
    expect(Math.max(...taken)).toBeLessThanOrEqual(256);
    expect(taken.reduce((sum, each) => sum + each, 0)).toBe(2_000);
  });

  it("is replaced when files of its index were lost", async () => {
    const { opened, replica } = setUp();
    opened()?.onLost();
    expect(replica.broken).toBe(true);
  });
});
