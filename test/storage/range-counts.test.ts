import { describe, expect, it } from "vitest";
import { RangeCounts } from "../../src/storage/mongo/log/range-counts.js";

const RANGE = 10;
const LOG_ID = "i";

describe("counting a log in MongoDB", () => {
  /** Makes a log of memories of one byte each, which records the requests to the database. */
  const aLog = (last: number) => {
    const erased = new Set<number>();
    const asked: number[] = [];
    const log = { last, nowMs: 1, erased, asked };
    const counted = new RangeCounts({
      rangeEntries: RANGE,
      nowMs: () => log.nowMs,
      count: async ({ from, to }) => {
        asked.push(from);
        const numbers = Array.from({ length: to - from }, (_, i) => from + i);
        const memories = numbers.filter((number) => number <= log.last && !erased.has(number)).length;
        return { memories, bytes: memories };
      },
    });
    const measure = async () => (await counted.measure(LOG_ID, log.last)).memories;
    return { log, counted, measure };
  };

  it("asks only for the end of a log that it counted before", async () => {
    const { log, measure } = aLog(95);
    expect(await measure()).toBe(95);
    expect(log.asked).toHaveLength(10);
    log.last = 101;
    expect(await measure()).toBe(101);
    expect(log.asked.slice(10)).toEqual([91, 101]);
    expect(await measure()).toBe(101);
    expect(log.asked.slice(12)).toEqual([101]);
  });

  it("counts nothing that this process erased, also while it counts", async () => {
    const { log, counted, measure } = aLog(100);
    await measure();
    for (const sequence of [1, 10, 11, 100]) {
      log.erased.add(sequence);
      counted.forget(LOG_ID, [sequence]);
    }
    expect(await measure()).toBe(96);
    counted.forget(LOG_ID, [50]);
    const measuring = measure();
    log.erased.add(50);
    counted.forget(LOG_ID, [50]);
    await measuring;
    expect(await measure()).toBe(95);
  });

  it("remembers what it counted while entries of other logs are erased", async () => {
    const { log, counted, measure } = aLog(100);
    const measuring = measure();
    for (let erased = 0; erased < 50; erased++) {
      counted.forget("other", [5]);
      await Promise.resolve();
    }
    expect(await measuring).toBe(100);
    const before = log.asked.length;
    await measure();
    expect(log.asked.slice(before)).toEqual([]);
  });

  it("notices within a minute what other processes erased", async () => {
    const { log, measure } = aLog(100);
    await measure();
    log.erased.add(5);
    expect(await measure()).toBe(100);
    log.nowMs += 60_001;
    expect(await measure()).toBe(99);
  });
});
