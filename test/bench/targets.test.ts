import { describe, expect, test } from "vitest";
import type { Busy } from "../../bench/compare/busy.js";
import type { AtSize, Results } from "../../bench/compare/results.js";
import type { Load } from "../../bench/compare/system.js";
import { TARGETS, targetsOf } from "../../bench/compare/targets.js";
import { targetsPage } from "../../bench/compare/targets-page.js";

/** Makes a round for each duration of a call. */
const rounds = (...ms: number[]): Load[] =>
  ms.map((each) => ({ latenciesMs: Array.from({ length: 100 }, () => each), seconds: each / 10 }));
const busy: Busy[] = [
  { idleP99Ms: 2, busyP99Ms: 4, loopDelay: { p99Ms: 5, maxMs: 9 }, stored: 10 },
  { idleP99Ms: 2, busyP99Ms: 5, loopDelay: { p99Ms: 7, maxMs: 9 }, stored: 10 },
  { idleP99Ms: 2, busyP99Ms: 6, loopDelay: { p99Ms: 12, maxMs: 40 }, stored: 10 },
];

describe("the targets", () => {
  test("compare rounds, and with the better bare server", () => {
    const one = { recalld: rounds(2, 4, 3), pgvector: rounds(2, 2, 2), "bare-main": rounds(2, 2, 2) };
    const recalls = {
      1: { ...one, "bare-thread": rounds(3, 1, 3) },
      16: { recalld: rounds(2, 2, 2), "bare-main": rounds(4, 4, 4), "bare-thread": rounds(1, 2, 1) },
    };
    const targets = targetsOf({ recalls, stores: {}, busy, found: 0.995 });
    expect(targets.recallP50OverPgvector).toEqual({ median: 1.5, lowest: 1, highest: 2 });
    // The medians of the bare kinds are 2 and 3 ms, and 250 and 1,000 calls a second.
    expect(targets.recallP50OverBare).toEqual({ median: 1.5, lowest: 1, highest: 2 });
    expect(targets.recallsOverBare).toEqual({ median: 0.5, lowest: 0.5, highest: 1 });
    expect(targets.loopDelayP99Ms).toEqual({ median: 7, lowest: 5, highest: 12 });
    expect(targets.busyP99OverIdle?.median).toBe(2.5);
    expect(targets.recallAt10?.median).toBe(0.995);
  });

  test("leave out what they cannot be compared with", () => {
    const targets = targetsOf({ recalls: { 1: { recalld: rounds(2) } }, stores: {}, busy, found: 1 });
    expect(Object.keys(targets)).toEqual(["loopDelayP99Ms", "busyP99OverIdle", "recallAt10"]);
  });
});

describe("the page of targets", () => {
  const at = (memories: number, targets: AtSize["targets"]) => ({ memories, targets }) as AtSize;
  const exactly = (median: number) => ({ median, lowest: median, highest: median });
  const sizes = [
    at(1000, {
      recallP50OverPgvector: { median: 1.1, lowest: 1, highest: 1.3 },
      loopDelayP99Ms: exactly(11),
    }),
    at(50_000, { recallP50OverPgvector: exactly(1.2), loopDelayP99Ms: exactly(12) }),
  ];
  const results = { sizes } as unknown as Results;
  const rowsOf = (page: string) =>
    new Map(
      page
        .split("\n")
        .filter((line) => line.startsWith("| "))
        .map((line) => line.slice(2, -2).split("|"))
        .map(([what = "", ...cells]) => [what.trim(), cells.map((cell) => cell.trim())]),
    );

  test("has a row for each, with a column for each size", () => {
    const rows = rowsOf(targetsPage(results, undefined));
    for (const { what } of Object.values(TARGETS)) expect(rows.has(what)).toBe(true);
    expect(rows.get("What")).toEqual(["Target", "1,000", "50,000", "All rounds", "Met"]);
    expect(rows.get(TARGETS.recallP50OverPgvector.what)).toEqual([
      "at most 1.1",
      "1.10",
      "1.20",
      "1.00 to 1.30",
      "at 1 of 2 sizes",
    ]);
    expect(rows.get(TARGETS.loopDelayP99Ms.what)).toEqual([
      "at most 10 ms",
      "11.0 ms",
      "12.0 ms",
      "11.0 to 12.0",
      "no",
    ]);
    expect(rows.get(TARGETS.recallsOverChroma.what)?.at(-1)).toBe("not measured");
  });

  test("shows the first recall of the large index, once it has been measured", () => {
    const what = "first recall, without index files, s";
    const scale = { date: "2026-11-22", machine: "a machine", memories: 1_000_000, namespaces: 10_000 };
    const figures = [
      { phase: "rebuild", what, value: 88 },
      { phase: "killed", what, value: 1 },
    ];
    const rows = rowsOf(targetsPage(results, { ...scale, figures }));
    const found = rows.get("First recall after a restart without index files, 1,000,000 memories");
    expect(found).toEqual(["at most 90 s", "88.0 s", "yes"]);
    expect(targetsPage(results, undefined)).toContain("has not been run");
  });
});
