import { describe, expect, it } from "vitest";
import { unavailable } from "../../src/errors.js";
import { appendDirect } from "../../src/memory/log/append-direct.js";
import type { Log } from "../../src/memory/ports/log.js";
import { aMemory } from "../contract/samples.js";
import { HandClock } from "./clock.js";
import { ScriptedLog } from "./scripted-log.js";

const entry = { op: "delete", opId: "tombstone", target: 1 } as const;

function setUp() {
  const log = new ScriptedLog();
  log.add(aMemory(), aMemory());
  const clock = new HandClock();
  const append = (check?: () => Promise<void>) =>
    appendDirect({ ...log.ports, clock }, { logId: "i", entry, ...(check && { check }) });
  return { log, clock, append };
}

describe("appending without an index", () => {
  it("writes the entry after the last one, and reads none before", async () => {
    const { log, append } = setUp();
    expect(await append()).toBe(true);
    expect(log.entries.map(({ opId }) => opId).at(-1)).toBe("tombstone");
    expect(log.reads).toBe(0);
  });

  it("begins a log that has no entry", async () => {
    const { log, append } = setUp();
    log.entries.length = 0;
    expect(await append()).toBe(true);
    expect(log.entries).toEqual([entry]);
  });

  it("goes further on when others take the number", async () => {
    const { log, append } = setUp();
    let others = 3;
    log.onAppend = async (insert) => {
      if (others-- > 0) log.add(aMemory());
      return insert();
    };
    expect(await append()).toBe(true);
    expect(log.batches.map(({ from }) => from)).toEqual([3, 4, 5, 6]);
    expect(log.countOf(entry)).toBe(1);
  });

  it.each(["drop", "moved"] as const)("appends nothing to a log that has ended: %s", async (op) => {
    const { log, append } = setUp();
    log.add(op === "drop" ? { op, opId: "end" } : { op, opId: "end", to: "elsewhere" });
    expect(await append()).toBe(false);
    expect(log.batches).toEqual([]);
  });

  it("is in the log once, when its answer is lost", async () => {
    const { log, append } = setUp();
    let lose = true;
    log.onAppend = async (insert) => {
      const inserted = insert();
      if (!lose) return inserted;
      lose = false;
      log.add(aMemory());
      throw unavailable("the connection broke");
    };
    expect(await append()).toBe(true);
    expect(log.countOf(entry)).toBe(1);
  });

  it("is in the log once, when it lands only after the next attempt", async () => {
    const { log, append } = setUp();
    let late: (() => number) | undefined;
    log.onAppend = async (insert) => {
      if (late === undefined) {
        late = insert;
        throw unavailable("the connection broke");
      }
      const inserted = insert();
      late();
      return inserted;
    };
    expect(await append()).toBe(true);
    expect(log.batches.map(({ from }) => from)).toEqual([3, 3]);
    expect(log.countOf(entry)).toBe(1);
  });

  it("is written where its own lost write turns out to have ended nothing, and another took the number", async () => {
    const { log, append } = setUp();
    let lost = false;
    log.onAppend = async (insert) => {
      if (lost) return insert();
      lost = true;
      log.add(aMemory());
      throw unavailable("the connection broke");
    };
    expect(await append()).toBe(true);
    expect(log.entries.map(({ opId }) => opId).indexOf("tombstone")).toBe(3);
  });

  it("gives up after a while when the database is away, or others store without a pause", async () => {
    const { log, clock, append } = setUp();
    const beganMs = clock.nowMs();
    log.onAppend = async () => {
      clock.atMs += 4_000;
      throw unavailable("away");
    };
    await expect(append()).rejects.toMatchObject({ code: "unavailable" });
    expect(clock.nowMs() - beganMs).toBeLessThan(15_000);
    const busy = setUp();
    busy.log.onAppend = async (insert) => {
      busy.log.add(aMemory());
      return insert();
    };
    await expect(busy.append()).rejects.toThrow("without a pause");
    expect(busy.log.batches.length).toBeLessThanOrEqual(50);
  });

  it("checks before each attempt what the log has by then, and passes on any other error", async () => {
    const { log, append } = setUp();
    let checks = 0;
    log.onAppend = async (insert) => {
      if (checks === 1) log.add(aMemory());
      return insert();
    };
    const check = async () => {
      if (++checks === 2) throw new Error("not empty any more");
    };
    await expect(append(check)).rejects.toThrow("not empty any more");
    expect(log.countOf(entry)).toBe(0);
    const broken = { ...log.ports.log, last: () => Promise.reject(new TypeError("a mistake")) } as Log;
    const appending = appendDirect({ log: broken, clock: new HandClock() }, { logId: "i", entry });
    await expect(appending).rejects.toThrow(TypeError);
  });
});
