import { setImmediate as nextIteration } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Namespaces } from "../../src/memory/log/namespaces.js";
import { warm } from "../../src/memory/log/warm.js";
import type { Scope } from "../../src/memory/ports/names.js";
import { scopeOf } from "./domain.js";

const NAMES = ["newest", "newer", "old", "older", "oldest"];

/** Makes namespaces that only record which were opened; `onOpen` may do more. */
function setUp(onOpen: (name: string) => unknown = () => {}) {
  const stop = new AbortController();
  const opened: string[] = [];
  const namespaces = {
    open: { isFull: false },
    using: async ({ namespace }: Scope) => {
      opened.push(namespace);
      await onOpen(namespace);
    },
  };
  const progress: [number, number][] = [];
  const troubles: unknown[] = [];
  const run = (recent: () => Promise<Scope[]> = async () => NAMES.map(scopeOf)) =>
    warm({
      names: { recent },
      namespaces: namespaces as unknown as Namespaces,
      stopping: stop.signal,
      onProgress: (done, total) => progress.push([done, total]),
      onTrouble: (error) => troubles.push(error),
    });
  return { stop, opened, namespaces, progress, troubles, run };
}

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

describe("warming", () => {
  it("opens what was used last first, one after the other, and tells how far it is", async () => {
    const { run, opened, progress } = setUp();
    await run();
    expect(opened).toEqual(NAMES);
    expect(progress).toEqual([1, 2, 3, 4, 5].map((done) => [done, 5]));
    expect(vi.getTimerCount()).toBe(0);
  });

  it("stops when the memory budget is full", async () => {
    const { run, opened, namespaces } = setUp((name) => {
      if (name === "newer") namespaces.open.isFull = true;
    });
    await run();
    expect(opened).toEqual(["newest", "newer"]);
  });

  it("stops when a minute is over", async () => {
    const { run, opened } = setUp((name) => vi.advanceTimersByTime(name === "old" ? 20_001 : 20_000));
    await run();
    expect(opened).toEqual(["newest", "newer", "old"]);
  });

  it("is not held by a namespace that takes longer than a minute, and opens no other behind it", async () => {
    let opensIt = () => {};
    const { run, opened, progress } = setUp(() => {
      queueMicrotask(() => vi.advanceTimersByTime(60_000));
      return new Promise<void>((resolve) => {
        opensIt = resolve;
      });
    });
    await run();
    opensIt();
    await nextIteration();
    expect([opened, progress]).toEqual([["newest"], []]);
  });

  it.each([true, false])("stops when the process is to end, also in the midst of one: %s", async (midst) => {
    const { run, opened, stop } = setUp(() => {
      stop.abort();
      return midst ? new Promise(() => {}) : undefined;
    });
    await run();
    expect(opened).toEqual(["newest"]);
  });

  it("opens nothing when the process is to end already", async () => {
    const { run, opened, stop } = setUp();
    stop.abort();
    await run();
    expect(opened).toEqual([]);
  });

  it("passes over what cannot be opened: its first use says why", async () => {
    const { run, opened } = setUp((name) => {
      if (name === "newer") throw new Error("broken");
    });
    await run();
    expect(opened).toEqual(NAMES);
  });

  it("is no reason not to start: what was used last is a hint", async () => {
    const { run, opened, troubles } = setUp();
    const slow = new Error("slow");
    await run(() => Promise.reject(slow));
    expect([opened, troubles]).toEqual([[], [slow]]);
  });
});
