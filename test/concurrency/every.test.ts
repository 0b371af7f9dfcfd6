import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { every } from "../../src/concurrency/every.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Work whose runs end when the test says so. */
function heldWork() {
  const runs: { end(): void; fail(error: Error): void }[] = [];
  const work = () =>
    new Promise<void>((resolve, reject) =>
      runs.push({ end: () => resolve(), fail: (error) => reject(error) }),
    );
  return { runs, work };
}

const noTrouble = (error: unknown) => {
  throw error;
};

describe("work that is done every so often", () => {
  it("begins after the first interval, or at once when that is asked for", async () => {
    const { runs, work } = heldWork();
    const end = every(work, { everyMs: 1000, onTrouble: noTrouble });
    expect(runs).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(1000);
    expect(runs).toHaveLength(1);
    const other = heldWork();
    const endOther = every(other.work, { everyMs: 1000, immediately: true, onTrouble: noTrouble });
    expect(other.runs).toHaveLength(1);
    for (const { end } of [...runs, ...other.runs]) end();
    await Promise.all([end(), endOther()]);
  });

  it("never runs twice at a time, however long a run takes", async () => {
    const { runs, work } = heldWork();
    const end = every(work, { everyMs: 1000, onTrouble: noTrouble });
    await vi.advanceTimersByTimeAsync(5500);
    expect(runs).toHaveLength(1);
    runs[0]?.end();
    await vi.advanceTimersByTimeAsync(1000);
    expect(runs).toHaveLength(2);
    runs[1]?.end();
    await end();
  });

  it("goes on after a run that failed, and tells why", async () => {
    const { runs, work } = heldWork();
    const troubles: unknown[] = [];
    const end = every(work, { everyMs: 1000, onTrouble: (error) => troubles.push(error) });
    await vi.advanceTimersByTimeAsync(1000);
    const error = new Error("away");
    runs[0]?.fail(error);
    await vi.advanceTimersByTimeAsync(1000);
    expect(troubles).toEqual([error]);
    expect(runs).toHaveLength(2);
    runs[1]?.end();
    await end();
  });

  it("ends when the run under way has ended, and begins no other", async () => {
    const { runs, work } = heldWork();
    const end = every(work, { everyMs: 1000, onTrouble: noTrouble });
    await vi.advanceTimersByTimeAsync(1000);
    let ended = false;
    const ending = end().then(() => {
      ended = true;
    });
    await vi.advanceTimersByTimeAsync(3000);
    expect(ended).toBe(false);
    runs[0]?.end();
    await ending;
    await vi.advanceTimersByTimeAsync(3000);
    expect(runs).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
