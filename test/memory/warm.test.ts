import { describe, expect, it } from "vitest";
import type { Scope } from "../../src/memory/log.js";
import type { Namespaces } from "../../src/memory/namespaces.js";
import { warm } from "../../src/memory/warm.js";
import { HandClock } from "./clock.js";
import { scopeOf } from "./room.js";

const NAMES = ["newest", "newer", "old", "older", "oldest"];

/** Namespaces that only note which were opened; `onOpen` may do more. */
function setUp(onOpen: (name: string, opened: readonly string[]) => void = () => {}) {
  const clock = new HandClock();
  const stop = new AbortController();
  const opened: string[] = [];
  const namespaces = {
    isFull: false,
    reading: async ({ namespace }: Scope) => {
      opened.push(namespace);
      onOpen(namespace, opened);
    },
  };
  const progress: [number, number][] = [];
  const run = () =>
    warm({
      recent: { list: async () => NAMES.map(scopeOf), touch: async () => {}, forget: async () => {} },
      namespaces: namespaces as unknown as Namespaces,
      clock,
      stopping: stop.signal,
      onProgress: (done, of) => progress.push([done, of]),
    });
  return { clock, stop, opened, namespaces, progress, run };
}

describe("warming", () => {
  it("opens what was used last first, one after the other, and tells how far it is", async () => {
    const { run, opened, progress } = setUp();
    expect(await run()).toBe(5);
    expect(opened).toEqual(NAMES);
    expect(progress).toEqual([1, 2, 3, 4, 5].map((done) => [done, 5]));
  });

  it("stops when the memory budget is full", async () => {
    const { run, opened, namespaces } = setUp((name) => {
      if (name === "newer") namespaces.isFull = true;
    });
    expect(await run()).toBe(2);
    expect(opened).toEqual(["newest", "newer"]);
  });

  it("stops when a minute is over", async () => {
    const { run, opened, clock } = setUp((name) => {
      clock.atMs += name === "old" ? 20_001 : 20_000;
    });
    expect(await run()).toBe(3);
    expect(opened).toEqual(["newest", "newer", "old"]);
  });

  it("does not care for the wall clock", async () => {
    const { run, clock } = setUp(() => {
      clock.wallAheadMs += 3_600_000;
    });
    expect(await run()).toBe(5);
  });

  it("stops when the process is to end", async () => {
    const { run, opened, stop } = setUp((name) => {
      if (name === "newest") stop.abort();
    });
    expect(await run()).toBe(1);
    expect(opened).toEqual(["newest"]);
  });

  it("passes over what cannot be opened: its first use says why", async () => {
    const { run, opened } = setUp((name) => {
      if (name === "newer") throw new Error("broken");
    });
    expect(await run()).toBe(4);
    expect(opened).toEqual(NAMES);
  });
});
