import { setImmediate as nextIteration } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Clock, systemClock } from "../../src/concurrency/clock.js";
import { notWritable, unavailable } from "../../src/errors.js";
import type { VectorPart } from "../../src/index/vectors/usearch-index.js";
import { APPEND_TIMEOUT_MS, Appender } from "../../src/memory/log/appender.js";
import { LogEndedError, Replica } from "../../src/memory/log/replica.js";
import type { Conditional } from "../../src/memory/versions/condition.js";
import { aMemory, memories } from "../contract/samples.js";
import { HandClock } from "./clock.js";
import { indexesWith } from "./domain.js";
import { plainIndex } from "./plain-index.js";
import { ScriptedLog } from "./scripted-log.js";

function replicaOf(
  log: ScriptedLog,
  { clock, index = plainIndex() }: { clock: Clock; index?: VectorPart },
): Replica {
  const indexes = indexesWith(index);
  const indexMemoryBytesMax = Number.MAX_SAFE_INTEGER;
  return new Replica("i", { ...log.ports, indexes, clock, indexMemoryBytesMax });
}

function setUp(index: VectorPart = plainIndex()) {
  const log = new ScriptedLog();
  const clock = new HandClock();
  const replica = replicaOf(log, { clock, index });
  const appender = new Appender(replica, { ...log.ports, clock });
  return { log, clock, replica, appender };
}

/** Makes a gate that holds its callers until it is opened. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error) => error,
  );

describe("appending", () => {
  it("has one write in flight, and groups of 64 at most", async () => {
    const { log, appender } = setUp();
    let inFlight = 0;
    log.onAppend = async (insert) => {
      expect(++inFlight).toBe(1);
      await nextIteration();
      inFlight--;
      return insert();
    };
    const entries = memories(200);
    await Promise.all(entries.map((entry) => appender.append(entry)));
    expect(log.batches.map((batch) => batch.entries.length)).toEqual([64, 64, 64, 8]);
    expect(log.entries).toEqual(entries);
  });

  it("writes what waited meanwhile in one go", async () => {
    const { log, appender } = setUp();
    const hold = gate();
    log.onAppend = async (insert) => {
      await hold.opened;
      return insert();
    };
    const first = appender.append(aMemory());
    await nextIteration();
    const rest = memories(10).map((entry) => appender.append(entry));
    await nextIteration();
    hold.open();
    await Promise.all([first, ...rest]);
    expect(log.batches.map((batch) => batch.entries.length)).toEqual([1, 10]);
  });

  /** Makes memories that share vectors of so many bytes. */
  const heavyOnes = (count: number, bytes = 1_048_576) => {
    const vectors = new Float32Array(bytes / Float32Array.BYTES_PER_ELEMENT);
    return Array.from({ length: count }, () => aMemory({ vectors }));
  };

  it("writes no more in one go than half a megabyte and the entry that reaches it", async () => {
    const { log, appender } = setUp();
    await Promise.all(heavyOnes(10, 131_072).map((entry) => appender.append(entry)));
    expect(log.batches.map((batch) => batch.entries.length)).toEqual([4, 4, 2]);
  });

  it("refuses what comes when 32 MiB wait in a namespace, or 128 MiB in all", async () => {
    const log = new ScriptedLog();
    const hold = gate();
    log.onAppend = async (insert) => {
      await hold.opened;
      return insert();
    };
    const clock = new HandClock();
    const allWaiting = { bytes: 0 };
    const appenders = Array.from({ length: 6 }, () => {
      const own = new ScriptedLog();
      own.onAppend = log.onAppend;
      const replica = replicaOf(own, { clock });
      return new Appender(replica, { ...own.ports, clock, allWaiting });
    });
    const asked = appenders.map((appender) => heavyOnes(40).map((entry) => appender.append(entry)));
    const settled = asked.map((each) => Promise.allSettled(each));
    await nextIteration();
    expect(appenders.map(({ waiting }) => waiting)).toEqual([32, 32, 32, 32, 0, 0]);
    hold.open();
    const outcomes = (await Promise.all(settled)).flat();
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(128);
    const refused = outcomes.find(({ status }) => status === "rejected");
    expect(refused).toMatchObject({ reason: { code: "unavailable", retryAfterMs: 1000 } });
    await appenders[5]?.append(aMemory());
  });

  it("refuses the 1,025th that waits at once, and says when to come back", async () => {
    const { log, appender } = setUp();
    const hold = gate();
    log.onAppend = async (insert) => {
      await hold.opened;
      return insert();
    };
    const waiting = memories(1024).map((entry) => appender.append(entry));
    const refused = await errorOf(appender.append(aMemory()));
    expect(refused).toMatchObject({ code: "unavailable", retryAfterMs: 1000 });
    hold.open();
    await Promise.all(waiting);
    expect(log.entries).toHaveLength(1024);
    await appender.append(aMemory());
  });

  it.each([
    ["had arrived", (insert: () => number) => void insert()],
    ["had not arrived", () => {}],
  ])("stores once when a write is not answered that %s", async (_, effect) => {
    const { log, appender } = setUp();
    let unanswered = 3;
    log.onAppend = async (insert) => {
      if (unanswered-- <= 0) return insert();
      effect(insert);
      throw unavailable("no answer");
    };
    const entries = memories(3);
    await Promise.all(entries.map((entry) => appender.append(entry)));
    for (const entry of entries) expect(log.countOf(entry)).toBe(1);
    expect(log.entries).toHaveLength(3);
  });

  it("stores once when the write that was given up arrives behind the next attempt's back", async () => {
    const { log, appender } = setUp();
    let late: (() => number) | undefined;
    log.onAppend = async (insert) => {
      if (late === undefined) {
        late = insert;
        throw unavailable("no answer");
      }
      late();
      return insert();
    };
    const entry = aMemory();
    await appender.append(entry);
    expect(log.entries).toEqual([entry]);
  });

  it("goes on after what others wrote in between", async () => {
    const { log, appender, replica } = setUp();
    await appender.append(aMemory());
    const others = memories(20);
    log.onAppend = async (insert) => {
      if (others.length > 0) log.add(...others.splice(0, 4));
      return insert();
    };
    const entry = aMemory();
    await appender.append(entry);
    expect(log.entries).toHaveLength(22);
    expect(log.entries.at(-1)).toEqual(entry);
    expect(replica.applied).toBe(22);
    expect(replica.index.size).toBe(22);
  });

  it("resolves only once the replica has it, even in part of a group", async () => {
    const { log, appender, replica } = setUp();
    log.onAppend = async (_, { from, entries }) => {
      const inserted = log.insert({ from, entries: entries.slice(0, 2) });
      // Another writer took the third number.
      if (log.batches.length === 1) log.add(aMemory());
      return inserted;
    };
    const entries = memories(5);
    await Promise.all(
      entries.map(async (entry) => {
        await appender.append(entry);
        expect(log.countOf(entry)).toBe(1);
        expect(replica.applied).toBeGreaterThanOrEqual(log.entries.indexOf(entry) + 1);
      }),
    );
    expect(log.entries).toHaveLength(6);
  });

  it("gives up after 10 s, and begins no attempt later than that", async () => {
    const { log, clock, appender } = setUp();
    const beganMs = clock.nowMs();
    const attemptsMs: number[] = [];
    log.onAppend = async () => {
      attemptsMs.push(clock.nowMs() - beganMs);
      throw unavailable("away");
    };
    expect(await errorOf(appender.append(aMemory()))).toMatchObject({ code: "unavailable" });
    expect(attemptsMs.length).toBeGreaterThan(10);
    expect(Math.max(...attemptsMs)).toBeLessThanOrEqual(APPEND_TIMEOUT_MS);
    expect(clock.nowMs() - beganMs).toBeGreaterThan(APPEND_TIMEOUT_MS);
    const attempts = attemptsMs.length;
    await nextIteration();
    expect(attemptsMs).toHaveLength(attempts);
  });

  it.each([
    ["whose disk is full", notWritable()],
    ["that does not come back within that time", unavailable("gone", undefined, APPEND_TIMEOUT_MS)],
  ])("gives up at once over a database %s, and names the reason", async (_, reason) => {
    const { log, clock, appender } = setUp();
    const beganMs = clock.nowMs();
    log.onAppend = async () => {
      throw reason;
    };
    expect(await errorOf(appender.append(aMemory()))).toBe(reason);
    expect(clock.nowMs()).toBe(beganMs);
  });

  it("begins no attempt for what waited too long behind a slow write", async () => {
    const { log, clock, appender } = setUp();
    log.onAppend = async (insert) => {
      await nextIteration();
      await nextIteration();
      clock.atMs += APPEND_TIMEOUT_MS + 1;
      return insert();
    };
    const slow = appender.append(aMemory());
    await nextIteration();
    const late = aMemory();
    const [first, second] = await Promise.all([slow, errorOf(appender.append(late))]);
    expect(first.op).toBe("store");
    expect(second).toMatchObject({ code: "unavailable" });
    expect(log.batches.flatMap(({ entries }) => entries)).not.toContainEqual(late);
  });

  it("stores again as soon as the database is back", async () => {
    const { log, appender } = setUp();
    let away = 5;
    log.onRead = async () => {
      if (away-- > 0) throw unavailable("away");
    };
    await appender.append(aMemory());
    expect(log.entries).toHaveLength(1);
  });

  it("says at once what is no matter of trying again", async () => {
    const { log, appender } = setUp();
    log.onAppend = async () => {
      throw new Error("a mistake of ours");
    };
    await expect(appender.append(aMemory())).rejects.toThrow("a mistake of ours");
    expect(log.batches).toHaveLength(1);
  });

  it("rejects with LogEndedError when the log has ended, and writes nothing after its end", async () => {
    const { log, appender } = setUp();
    await appender.append(aMemory());
    log.add({ op: "drop", opId: "end" });
    for (let i = 0; i < 2; i++) {
      expect(await errorOf(appender.append(aMemory()))).toBeInstanceOf(LogEndedError);
      // The second one comes long after the first has ended.
      for (let i = 0; i < 10; i++) await nextIteration();
    }
    expect(log.entries).toHaveLength(2);
    expect(log.batches).toHaveLength(2);
  });

  it("is done for what came before the log's end, though its write was not answered", async () => {
    const { log, appender } = setUp();
    const [kept, late] = [aMemory(), aMemory()];
    log.onAppend = async (_, { from }) => {
      log.insert({ from, entries: [kept] });
      log.add({ op: "drop", opId: "end" });
      throw unavailable("no answer");
    };
    const [first, second] = await Promise.all([
      errorOf(appender.append(kept)),
      errorOf(appender.append(late)),
    ]);
    expect(first).toBeUndefined();
    expect(second).toBeInstanceOf(LogEndedError);
  });

  it("lets another process decide in between, however many decisions wait", async () => {
    const log = new ScriptedLog();
    const wait = () => systemClock.sleep(2);
    log.onAppend = async (insert) => {
      await wait();
      return insert();
    };
    log.onRead = wait;
    const anAppender = () => {
      return new Appender(replicaOf(log, { clock: systemClock }), { ...log.ports, clock: systemClock });
    };
    const deciding = (): Conditional => {
      const entry = aMemory();
      const decide = async () => {
        await wait();
        return { entry };
      };
      return { opId: entry.opId, bytes: 100, decide };
    };
    const busy = anAppender();
    const all = Array.from({ length: 200 }, () => busy.append(deciding()));
    await all[9];
    // It has to read what the other has written before each of its attempts.
    const existing = await anAppender().append(deciding());
    expect(log.entries.findIndex(({ opId }) => opId === existing.opId)).toBeLessThan(120);
    await Promise.all(all);
  });

  it("is one for two that append the same operation at once, and tells both", async () => {
    const { log, appender } = setUp();
    const entry = aMemory();
    await Promise.all([appender.append(entry), appender.append(entry)]);
    expect(log.countOf(entry)).toBe(1);
  });

  it("lets no more than a group wait for the indexes: a search waits for all that was written before it", async () => {
    const hold = gate();
    const plain = plainIndex();
    const index = plainIndex({ add: (rows) => hold.opened.then(() => plain.add(rows)) });
    const { log, appender } = setUp(index);
    const first = memories(64).map((entry) => appender.append(entry));
    const rest = memories(100).map((entry) => appender.append(entry));
    await Promise.all(first);
    for (let i = 0; i < 20; i++) await nextIteration();
    expect(log.batches.map((batch) => batch.entries.length)).toEqual([64]);
    hold.open();
    await Promise.all(rest);
    expect(log.entries).toHaveLength(164);
  });

  it("goes on when the index fails: the log is what a store promises", async () => {
    const index = plainIndex({
      add: async () => {
        throw new Error("the index thread ended");
      },
    });
    const { log, appender, replica } = setUp(index);
    log.add(aMemory());
    const entries = memories(3);
    await Promise.all(entries.map((entry) => appender.append(entry)));
    expect(replica.broken).toBe(true);
    for (const entry of entries) expect(log.countOf(entry)).toBe(1);
  });

  it("does not care for the wall clock, even one that jumps back an hour", async () => {
    const { log, clock, appender } = setUp();
    log.onAppend = async (insert) => {
      clock.wallAheadMs -= 3_600_000;
      if (log.batches.length < 4) throw unavailable("no answer");
      return insert();
    };
    const entry = aMemory();
    await appender.append(entry);
    expect(log.entries).toEqual([entry]);
    log.onAppend = async () => {
      clock.wallAheadMs += 3_600_000;
      throw unavailable("away");
    };
    const before = log.batches.length;
    await expect(appender.append(aMemory())).rejects.toMatchObject({ code: "unavailable" });
    expect(log.batches.length - before).toBeGreaterThan(10);
  });
});
