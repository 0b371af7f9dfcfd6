import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { largest } from "../faults/largest.js";
import { startServer } from "../support/server.js";

/** Codes that a call may get when too much is asked for at once. */
const EXPECTED = ["ok", "unavailable", "deadline_exceeded", "resource_exhausted"];

it.skipIf(!existsSync("/proc/self/status"))(
  "the largest of everything at once neither ends nor stops a server with a heap of 512 MB (Linux only: it reads /proc)",
  async () => {
    const figures = await largest({ start: startServer, memories: 18, rounds: 1, lists: 60 });
    const codes = Object.keys(figures.outcomes);
    expect(codes.filter((code) => !EXPECTED.includes(code))).toEqual([]);
    expect(figures.outcomes.ok).toBeGreaterThan(10);
    expect(figures.probesFailed).toBe(0);
    expect(figures.rssMaxMB).toBeLessThan(800);
    expect(figures.heapMaxMB).toBeLessThan(300);
    // This is processor time, which still grows on a busy machine. On an idle one it is about 50 ms.
    expect(figures.heldMaxMs).toBeLessThan(300);
  },
  120_000,
);
