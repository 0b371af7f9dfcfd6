import { afterEach, describe, expect, test, vi } from "vitest";
import { systemClock } from "../../src/concurrency/clock.js";
import { LogFiles } from "../../src/index/log-files.js";
import { LogIndex } from "../../src/index/log-index.js";
import { aMemory } from "../contract/samples.js";
import { plainIndex } from "../memory/plain-index.js";

function anIndex(): LogIndex {
  const onTrouble = (error: unknown) => {
    throw error;
  };
  const files = new LogFiles({ logId: "0123456789abcdef", onTrouble });
  const vectors = plainIndex();
  return new LogIndex({ vectors, clock: systemClock, files, mergedAtOnceBytes: 0, onTrouble });
}

const rowsOf = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => {
    const text = Array.from({ length: 30 }, (_, j) => `word${(from + i) * 31 + j}`).join(" ");
    return { sequence: from + i, memory: aMemory({ text }) };
  });

const markOf = (sequence: number) => ({ sequence, opId: `op${sequence}` });

afterEach(() => {
  vi.restoreAllMocks();
});

describe("an index that is emptied", () => {
  test("gets nothing back from merges that are under way or due", async () => {
    // Every slice of work takes longer than it may, so that other work runs after each step.
    let nowMs = 0;
    vi.spyOn(performance, "now").mockImplementation(() => (nowMs += 6));
    for (let yields = 0; yields < 20; yields++) {
      const index = anIndex();
      await index.add(rowsOf(1, 60), markOf(60));
      void index.add(rowsOf(61, 20), markOf(80));
      for (let i = 0; i < yields; i++) await systemClock.yield();
      await index.reset();
      await index.add(rowsOf(1, 3), markOf(3));
      await index.settled();
      expect(index.size, `after ${yields} yields`).toBe(3);
    }
  });
});

test("an index refuses memories that are not behind those that it has", async () => {
  const index = anIndex();
  await index.add(rowsOf(1, 10), markOf(10));
  await expect(index.add(rowsOf(10, 3), markOf(12))).rejects.toThrow("in the order of the log");
  await index.add(rowsOf(11, 3), markOf(13));
  expect(index.size).toBe(13);
});
