import { expect, it, vi } from "vitest";
import { simulate } from "./simulation.js";

// The tempting mistake: whoever asks joins the look at the log that is under way, which may have been
// sent before the store that must be seen.
vi.mock("../../src/memory/coalesce.js", () => ({
  coalesce: (run: () => Promise<void>) => {
    let running: Promise<void> | undefined;
    return () => {
      running ??= run().finally(() => {
        running = undefined;
      });
      return running;
    };
  },
}));

it("a catch-up that is shared while it runs is seen to lose memories", { timeout: 120_000 }, async () => {
  const failures: string[] = [];
  for (let seed = 1; seed <= 500; seed++) {
    const faults = { lost: 0.03, unanswered: 0.03, late: 0.02, twice: 0.03 };
    await simulate({ seed, replicas: 3, operations: 24, faults }).catch((error: Error) => {
      failures.push(error.message);
    });
  }
  expect(failures.join("\n")).toMatch(/was stored at .* and missing/);
});
