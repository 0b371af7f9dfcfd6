import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { unavailable } from "../../src/errors.js";
import type { Mark } from "../../src/memory/ports/vectors.js";
import type { WordIndex } from "../../src/memory/ports/words.js";
import { WordReplica } from "../../src/memory/words/word-replica.js";
import { aMemory } from "../contract/samples.js";
import { HandClock } from "./clock.js";
import { plainWordIndex } from "./plain-words.js";
import { ScriptedLog } from "./scripted-log.js";

function setUp(changes: Partial<WordIndex> = {}) {
  const log = new ScriptedLog();
  const index = plainWordIndex(changes);
  const troubles: unknown[] = [];
  const replica = new WordReplica({
    logId: "i",
    log: log.port,
    index,
    clock: new HandClock(),
    fits: () => true,
    discard: async () => {},
    onTrouble: (error) => troubles.push(error),
  });
  const hear = async (text: string, until = log.entries.length) =>
    (await replica.hear({ text, limit: 50, until })).heard;
  return { log, index, troubles, replica, hear };
}

const texts = (count: number, word = "word") =>
  Array.from({ length: count }, (_, i) => aMemory({ text: `${word} number${i}` }));
const numbered = (log: ScriptedLog, from: number) =>
  log.entries.slice(from - 1).map((entry, i) => ({ sequence: from + i, entry }));
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

describe("the words of a log", () => {
  it("are read once, in slices, and then no more than what is new", async () => {
    const { log, index, hear } = setUp();
    log.add(...texts(1200));
    expect(await hear("number77")).toEqual([78]);
    expect(index.added).toEqual(upTo(1200));
    expect(log.reads).toBe(3);
    await hear("number77");
    expect(log.reads).toBe(3);
    log.add(...texts(1, "zebra"));
    expect(await hear("zebra")).toEqual([1201]);
    expect(log.reads).toBe(4);
  });

  it("are read to the log's end, where the new versions are of memories that are erased", async () => {
    const { log, hear } = setUp();
    log.add(...texts(512), { ...aMemory({ text: "word number4" }), replaces: 5 });
    log.erase(5);
    expect(await hear("number4", 512)).toEqual([513]);
  });

  it("are not read again where they are handed over", async () => {
    const { log, replica, hear } = setUp();
    log.add(...texts(3));
    await hear("word");
    log.add(...texts(2, "zebra"));
    replica.offer(numbered(log, 4));
    expect(await hear("zebra")).toEqual([4, 5]);
    expect(log.reads).toBe(1);
  });

  it.each([
    ["come too early", (log: ScriptedLog) => numbered(log, 5)],
    ["have no texts", (log: ScriptedLog) => numbered(log, 4).map(withoutText)],
  ])("are read from the log if entries that are handed over %s", async (_, offered) => {
    const { log, replica, index, hear } = setUp();
    log.add(...texts(3));
    await hear("word");
    log.add(...texts(2, "zebra"));
    replica.offer(offered(log) as never);
    expect(await hear("zebra")).toEqual([4, 5]);
    expect(index.added).toEqual(upTo(5));
  });

  it("are read by all callers of one moment together", async () => {
    const { log, hear } = setUp();
    log.add(...texts(10));
    await Promise.all(Array.from({ length: 20 }, () => hear("word")));
    expect(log.reads).toBeLessThanOrEqual(2);
  });

  it("lack a memory that is forgotten, also before it was read", async () => {
    const { log, index, replica, hear } = setUp();
    log.add(...texts(3));
    await replica.forget([2]);
    expect(await hear("word")).toEqual([1, 3]);
    await replica.forget([3]);
    expect(await hear("word")).toEqual([1]);
    expect(index.added).toEqual([1, 3]);
  });

  it("lack what a tombstone or an erased entry stands for", async () => {
    const { log, replica, hear } = setUp();
    log.add(...texts(4), { op: "delete", opId: "d", target: 1 });
    log.erase(2);
    expect(await hear("word")).toEqual([3, 4]);
    log.add({ op: "delete", opId: "e", target: 3 });
    replica.offer(numbered(log, 6));
    expect(await hear("word")).toEqual([4]);
  });

  it("are read on after the log could not be", async () => {
    const { log, index, replica, hear } = setUp();
    log.add(...texts(600));
    let reads = 0;
    log.onRead = async () => {
      if (++reads === 2) throw unavailable("no database");
    };
    await expect(hear("word")).rejects.toThrow("no database");
    expect(replica.broken).toBe(false);
    expect(await hear("number599")).toEqual([600]);
    expect(index.added).toEqual(upTo(600));
  });

  it("are not answered from an index that lost a memory", async () => {
    const { log, replica, hear } = setUp({ add: () => Promise.reject(new Error("the index is full")) });
    log.add(...texts(3));
    await expect(hear("word")).rejects.toMatchObject({ code: "unavailable" });
    expect(replica.broken).toBe(true);
  });

  it("stop being read when the service stops", async () => {
    const { log, index, replica, hear } = setUp();
    log.add(...texts(2000));
    let stopped: Promise<void> | undefined;
    log.onRead = async () => {
      stopped ??= replica.stop();
    };
    await expect(hear("word")).rejects.toMatchObject({ code: "unavailable" });
    await stopped;
    expect(index.added.length).toBeLessThan(2000);
  });

  describe("while the index takes a slice", () => {
    /** An index whose additions end when the gate is resolved, or fail when it is rejected. */
    function gated() {
      const gate = deferred();
      let adds = 0;
      const add = async () => {
        await gate.promise;
        return adds++;
      };
      const set = setUp({ add });
      set.log.add(...texts(2000));
      return { ...set, gate, adds: () => adds };
    }

    it("are read one slice further, and no more", async () => {
      const { log, gate, hear, adds } = gated();
      const hearing = hear("word");
      await settle();
      expect(log.reads).toBe(2);
      gate.resolve();
      await hearing;
      expect(log.reads).toBe(4);
      expect(adds()).toBe(4);
    });

    it("stop only when it has them", async () => {
      const { replica, gate, hear, adds } = gated();
      const hearing = hear("word").catch(() => {});
      await settle();
      let isStopped = false;
      const stopping = replica.stop().then(() => {
        isStopped = true;
      });
      await settle();
      expect(isStopped).toBe(false);
      gate.resolve();
      await Promise.all([stopping, hearing]);
      // The second slice was read already.
      expect(adds()).toBeLessThanOrEqual(2);
    });

    it("are not heard if it fails", async () => {
      const { replica, gate, hear } = gated();
      const hearing = hear("word");
      await settle();
      gate.reject(new Error("the index is full"));
      await expect(hearing).rejects.toMatchObject({ code: "unavailable" });
      expect(replica.broken).toBe(true);
    });
  });

  it("are kept in a file when they are many, again when a quarter is new, and at the end", async () => {
    const marks: Mark[] = [];
    const snapshot = async (mark: Mark) => void marks.push(mark);
    const { log, replica, hear } = setUp({ large: true, snapshot });
    const mark = (sequence: number) => ({ sequence, opId: log.entries[sequence - 1]?.opId });
    log.add(...texts(8));
    await hear("word");
    expect(marks).toEqual([mark(8)]);
    log.add(...texts(1));
    await hear("word");
    expect(marks).toHaveLength(1);
    log.add(...texts(2));
    await hear("word");
    expect(marks).toEqual([mark(8), mark(11)]);
    log.add(...texts(1));
    await hear("word");
    await replica.close({ keeps: true });
    expect(marks).toEqual([mark(8), mark(11), mark(12)]);
  });

  it("go on being served when they cannot be kept", async () => {
    const snapshot = () => Promise.reject(new Error("the disk is full"));
    const { log, troubles, hear } = setUp({ large: true, snapshot });
    log.add(...texts(8));
    expect(await hear("number3")).toEqual([4]);
    await hear("word");
    expect(troubles).toHaveLength(1);
  });
});

function deferred() {
  let [resolve, reject] = [() => {}, (_: Error) => {}];
  const promise = new Promise<void>((...both) => {
    [resolve, reject] = both;
  });
  return { promise, resolve: () => resolve(), reject: (error: Error) => reject(error) };
}

/** Lets everything run that waits for nothing else. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await nextTurn();
}

function withoutText({ sequence, entry }: ReturnType<typeof numbered>[0]) {
  const { text: _, ...rest } = entry as ReturnType<typeof aMemory>;
  return { sequence, entry: rest };
}
