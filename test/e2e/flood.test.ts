import { describe, expect, it, vi } from "vitest";
import type { Compared } from "../faults/beside.js";
import { crowd, floodOneKey } from "../faults/flood.js";
import { keyProblemsOf, memoryRatioOf } from "../faults/flood-report.js";
import { startServer } from "../support/server.js";

// Whole servers and processes that call them start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 180_000 });

const start = (env: Record<string, string>) => startServer({ env });

/**
 * Checks less than the promise that p99 at most doubles, which `npm run test:faults -- flood` checks. A few
 * calls on a busy machine say less, but enough: without limits, they would wait behind each other for seconds.
 */
function expectUndisturbed({ calls, failures, calm, disturbed }: Compared): void {
  expect(calls).toBeGreaterThan(50);
  expect(failures).toEqual([]);
  expect(disturbed.p50).toBeLessThan(5 * calm.p50 + 250);
}

describe("one caller goes on as before", () => {
  it("while another key calls ten times as often as it may, which pays for no more than its rate", async () => {
    const figures = await floodOneKey({ start, rounds: 1, roundMs: 2_000 });
    expectUndisturbed(figures);
    expect(keyProblemsOf(figures)).toEqual([]);
  });

  it("beside connections that do nothing, and that do it slowly", async () => {
    const figures = await crowd({ start, rounds: 1, roundMs: 2_000, idle: 400, slow: 60 });
    expectUndisturbed(figures);
    expect(memoryRatioOf(figures)).toBeLessThan(1.5);
  });
});
