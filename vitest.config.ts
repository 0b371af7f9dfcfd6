import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import SlowestFirst from "./test/support/slowest-first.js";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // On a machine that does much else, starting a linter or a model alone takes seconds.
    testTimeout: 20_000,
    // Many tests wait, for a server or a pause, more than they work: one worker on two cores is idle half of the time.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    sequence: { sequencer: SlowestFirst },
    // Starts nothing until a test asks for a MongoDB.
    globalSetup: ["test/support/mongo/setup.ts"],
  },
});
